const name = "_login_hint";

type Cookies = {
  get(name: string, options: { signed: boolean }): string | undefined;
  set(
    name: string,
    value: string,
    options: { path: string; maxAge: number; httpOnly: boolean; sameSite: "lax"; signed: boolean },
  ): unknown;
};

/** Keeps the user name that the app wrote in a cookie, for the login form. It is not stored in the database. */
export function keepTypedHint(
  cookies: Cookies,
  { typed, path, seconds }: { typed: string; path: string; seconds: number },
): void {
  const value = Buffer.from(typed).toString("base64url");
  cookies.set(name, value, { path, maxAge: seconds * 1000, httpOnly: true, sameSite: "lax", signed: false });
}

export function readTypedHint(cookies: Pick<Cookies, "get">): string {
  return Buffer.from(cookies.get(name, { signed: false }) ?? "", "base64url").toString();
}
