/** `amr` values. Source: RFC 8176. */
export const passwordAlone: readonly string[] = ["pwd"];

/** "otp" is a one-time password or recovery code, "hwk" a key that the person holds. */
export type SecondMethod = "otp" | "hwk";

export const passwordAnd = (method: SecondMethod | undefined): string[] => withSecondFactor(passwordAlone, method);

/** A passkey alone: its key, which other devices of the person may share, and the user whom the device verified. */
export const passkeyMethods = (isShared: boolean): string[] => [isShared ? "swk" : "hwk", "user", "mfa"];

export const isPasskeyAlone = (amr: readonly string[] | undefined): boolean => amr?.includes("user") === true;

/** Adds a second factor to the first one of a sign-in; without `amr` that was a password. */
export function withSecondFactor(amr: readonly string[] | undefined, method: SecondMethod | undefined): string[] {
  if (isPasskeyAlone(amr)) return [...amr!];
  const first = isUpstream(amr) ? [upstreamLogin] : [...passwordAlone];
  return method === undefined ? first : [...first, method, "mfa"];
}

/** The login that the school has elsewhere; no value of the RFC. */
const upstreamLogin = "upstream";

export const isUpstream = (amr: readonly string[] | undefined): boolean => amr?.includes(upstreamLogin) === true;

export const hasSecondFactor = (amr: readonly string[] | undefined): boolean => amr?.includes("mfa") === true;

/** Sessions of earlier versions have no `amr`; all were made with a password. A passkey alone counts as one. */
export const hasPassword = (amr: readonly string[] | undefined): boolean =>
  amr?.includes("pwd") !== false || isPasskeyAlone(amr);

/** Whether staff may work in the session: with a password or with the login of their school, but not with a card. */
export const hasStaffFactor = (amr: readonly string[] | undefined): boolean => hasPassword(amr) || isUpstream(amr);
