/** `amr` values. Source: RFC 8176. */
export const passwordAlone: readonly string[] = ["pwd"];

/** "otp" is a one-time password or recovery code, "hwk" a key that the person holds. */
export type SecondMethod = "otp" | "hwk";

export const passwordAnd = (method: SecondMethod | undefined): string[] =>
  method === undefined ? [...passwordAlone] : [...passwordAlone, method, "mfa"];

export const hasSecondFactor = (amr: readonly string[] | undefined): boolean => amr?.includes("mfa") === true;

/** Sessions of earlier versions have no `amr`; all were made with a password. */
export const hasPassword = (amr: readonly string[] | undefined): boolean => amr?.includes("pwd") !== false;
