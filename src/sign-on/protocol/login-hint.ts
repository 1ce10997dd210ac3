import { findPersonByAppId, type ClientId } from "../../access/index.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { seal, unseal, hmac } from "../../platform/crypto/seal.ts";
import { makeFind, table, type Queryable } from "../../platform/database/sql.ts";
import { foldUsername } from "../../accounts/index.ts";
import { uuidPattern } from "../../platform/crypto/ids.ts";

const purpose = "login hint";

/** Makes the hint of a tile: only this service can read it, and only for that app. */
export function makeLoginHint(key: Buffer, personId: string, clientId: string): string {
  return seal([key], `${purpose} ${clientId}`, Buffer.from(personId)).toString("base64url");
}

type HintOfApp = { hint: string; clientId: ClientId };

const person = table("person");
const credential = table("credential");

const findPerson = makeFind<
  { id: PersonId; schoolId: SchoolId | null },
  { personId: string | null; username: string | null }
>("sign-on.findHintedPerson")`
    SELECT ${person.id} AS id, ${person.homeSchoolId} AS "schoolId" FROM ${person} WHERE ${person.id} = ${"personId"}
    UNION ALL SELECT ${credential.personId}, NULL FROM ${credential} WHERE ${credential.username} = ${"username"}
      LIMIT 1`;

/** A hint is a tile's, the app's id of a person, or a user name; `sure`: only this service can have made it. */
export async function findHintedPerson(db: Queryable, key: Buffer, { hint, clientId }: HintOfApp) {
  const opened = open(key, { hint, clientId });
  const named = opened === null && uuidPattern.test(hint) ? await findPersonByAppId(db, { clientId, id: hint }) : null;
  const [person] = await findPerson(db, {
    personId: opened ?? named,
    username: opened === null ? foldUsername(hint) : null,
  });
  return {
    personId: person?.id ?? null,
    schoolId: person?.schoolId ?? null,
    sure: opened !== null && person !== undefined,
  };
}

export function hashHintedPerson(key: Buffer, personId: string): string {
  return hmac(key).update("hinted person\0").update(personId).digest("base64url");
}

/** What may be filled into the login form: a user name that the app itself sent. */
export function readableHint(key: Buffer, { hint, clientId }: HintOfApp): string {
  return open(key, { hint, clientId }) !== null || uuidPattern.test(hint) || hint.length > 64 ? "" : hint;
}

function open(key: Buffer, { hint, clientId }: HintOfApp): string | null {
  return unseal([key], `${purpose} ${clientId}`, Buffer.from(hint, "base64url"))?.toString() ?? null;
}

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

type SchoolOfHint = { key: Buffer; schoolId: SchoolId; path: string };

/** Keeps the school of our own hint's person, encrypted, for the help text of the login form. */
export function keepHintedSchool(cookies: Cookies, { key, schoolId, path }: SchoolOfHint): void {
  const value = seal([key], schoolPurpose, Buffer.from(schoolId)).toString("base64url");
  cookies.set(schoolName, value, { path, httpOnly: true, sameSite: "lax", signed: false });
}

export function readHintedSchool(cookies: Pick<Cookies, "get">, key: Buffer): SchoolId | null {
  const text = cookies.get(schoolName, { signed: false }) ?? "";
  const plain = unseal([key], schoolPurpose, Buffer.from(text, "base64url"));
  return (plain?.toString() ?? null) as SchoolId | null;
}
