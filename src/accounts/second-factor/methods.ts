/** How a person proved who they are, as `amr` says it. Source: RFC 8176. */
export const passwordAlone: readonly string[] = ["pwd"];

/** A one-time password or a recovery code beside the password, or a key that the person holds. */
export type SecondMethod = "otp" | "hwk";

export const passwordAnd = (method: SecondMethod | undefined): string[] =>
  method === undefined ? [...passwordAlone] : [...passwordAlone, method, "mfa"];

/** Whether these methods include a second factor. */
export const hasSecondFactor = (amr: readonly string[] | undefined): boolean => amr?.includes("mfa") === true;

/** Whether these methods include the password; sessions of earlier versions say nothing and were all made with it. */
export const hasPassword = (amr: readonly string[] | undefined): boolean => amr?.includes("pwd") !== false;
