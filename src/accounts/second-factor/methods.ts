/** `amr` values. Source: RFC 8176. */
export const passwordAlone: readonly string[] = ["pwd"];

/** "otp" is a one-time password or recovery code, "hwk" a key that the person holds. */
export type SecondMethod = "otp" | "hwk";

export const passwordAnd = (method: SecondMethod | undefined): string[] => withSecondFactor(passwordAlone, method);

/** Adds a second factor to the first one of a sign-in; without `amr` that was a password. */
export function withSecondFactor(amr: readonly string[] | undefined, method: SecondMethod | undefined): string[] {
  const first = isUpstream(amr) ? [upstreamLogin] : [...passwordAlone];
  return method === undefined ? first : [...first, method, "mfa"];
}

/** The login that the school has elsewhere; no value of the RFC. */
const upstreamLogin = "upstream";

export const isUpstream = (amr: readonly string[] | undefined): boolean => amr?.includes(upstreamLogin) === true;

export const hasSecondFactor = (amr: readonly string[] | undefined): boolean => amr?.includes("mfa") === true;

/** Sessions of earlier versions have no `amr`; all were made with a password. */
export const hasPassword = (amr: readonly string[] | undefined): boolean => amr?.includes("pwd") !== false;

/** Whether staff may work in the session: with a password or with the login of their school, but not with a card. */
export const hasStaffFactor = (amr: readonly string[] | undefined): boolean => hasPassword(amr) || isUpstream(amr);
