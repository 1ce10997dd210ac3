import { createHmac } from "node:crypto";
import type { PersonId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import { seal, unseal } from "../platform/seal.ts";
import { foldUsername } from "./login/index.ts";

const purpose = "login hint";
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Makes the hint that a tile carries: it names a person to us alone, and is of use to that one app. */
export function makeLoginHint(key: Buffer, personId: string, clientId: string): string {
  return seal([key], `${purpose} ${clientId}`, Buffer.from(personId)).toString("base64url");
}

type AskedHint = { hint: string; clientId: string };

/**
 * Finds out whom a hint means: a hint of ours, a person's id or a user name.
 *
 * Shape: `personId` is null when it means nobody known; `sure` where nobody but us can have made the hint.
 */
export async function findHintedPerson(
  db: Queryable,
  key: Buffer,
  { hint, clientId }: AskedHint,
): Promise<{ personId: PersonId | null; sure: boolean }> {
  const opened = open(key, { hint, clientId });
  const { rows } = await db.query<{ id: PersonId }>({
    name: "sign-on.findHintedPerson",
    text: "SELECT id FROM person WHERE id = $1 UNION ALL SELECT person_id FROM credential WHERE username = $2 LIMIT 1",
    values: [opened ?? (uuid.test(hint) ? hint : null), opened === null ? foldUsername(hint) : null],
  });
  const [found] = rows;
  return { personId: found?.id ?? null, sure: opened !== null && found !== undefined };
}

/** What is kept of a hinted person: enough to recognise them, and nothing without the key. */
export function hashHintedPerson(key: Buffer, personId: string): string {
  return createHmac("sha256", key).update("hinted person\0").update(personId).digest("base64url");
}

/** What may be filled into the login form: only what the app wrote as a user name itself. */
export function readableHint(key: Buffer, { hint, clientId }: AskedHint): string {
  return open(key, { hint, clientId }) !== null || uuid.test(hint) || hint.length > 64 ? "" : hint;
}

function open(key: Buffer, { hint, clientId }: AskedHint): string | null {
  return unseal([key], `${purpose} ${clientId}`, Buffer.from(hint, "base64url"))?.toString() ?? null;
}
