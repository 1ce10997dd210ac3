import type { SchoolId } from "../../directory/index.ts";
import { seal, unseal } from "../../platform/crypto/seal.ts";

const name = "_login_hint";
const schoolName = "_hinted_school";
export const hintCookies = [name, schoolName];
const schoolPurpose = "hinted school";

type Cookies = {
  get(name: string, options: { signed: boolean }): string | undefined;
  set(
    name: string,
    value: string,
    options: { path: string; httpOnly: boolean; sameSite: "lax"; signed: boolean },
  ): unknown;
};

/** Keeps the user name that the app sent in a cookie only. */
export function keepTypedHint(cookies: Cookies, { typed, path }: { typed: string; path: string }): void {
  const value = Buffer.from(typed).toString("base64url");
  cookies.set(name, value, { path, httpOnly: true, sameSite: "lax", signed: false });
}

export function readTypedHint(cookies: Pick<Cookies, "get">): string {
  return Buffer.from(cookies.get(name, { signed: false }) ?? "", "base64url").toString();
}

type Kept = { key: Buffer; schoolId: SchoolId; path: string };

/** Keeps the school of our own hint's person, encrypted, for the help text of the login form. */
export function keepHintedSchool(cookies: Cookies, { key, schoolId, path }: Kept): void {
  const value = seal([key], schoolPurpose, Buffer.from(schoolId)).toString("base64url");
  cookies.set(schoolName, value, { path, httpOnly: true, sameSite: "lax", signed: false });
}

export function readHintedSchool(cookies: Pick<Cookies, "get">, key: Buffer): SchoolId | null {
  const text = cookies.get(schoolName, { signed: false }) ?? "";
  const plain = unseal([key], schoolPurpose, Buffer.from(text, "base64url"));
  return (plain?.toString() ?? null) as SchoolId | null;
}
