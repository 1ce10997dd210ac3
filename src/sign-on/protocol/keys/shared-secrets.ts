import { hkdfSync, randomBytes } from "node:crypto";
import type { Db } from "../../../platform/database/db.ts";
import { DatabaseStartError } from "../../../platform/postgres/index.ts";
import { type EncryptionKeys, seal, unseal } from "../../../platform/crypto/seal.ts";
import { findRows, insert, type Queryable, run, sql, statement, table } from "../../../platform/database/sql.ts";

const purposes = {
  cookies: "cookies",
  csrf: "csrf",
  loginHint: "login hint",
  signInTraces: "sign-in traces",
  cardAnswers: "card answers",
  cardCookies: "card cookies",
  replay: "replay",
  newPassword: "new password",
  waitingSignIn: "waiting sign-in",
  secondFactor: "second factor",
  lastSignIn: "last sign-in",
  recoveryCodes: "recovery codes",
  pseudonyms: "pseudonyms",
  sessionIds: "session ids",
};

/** Secrets that all processes share, each derived from one root for one purpose. */
export type SharedSecrets = Record<keyof typeof purposes, Buffer>;

const rootName = "root";
export const rootPurpose = (name: string): string => `shared secret ${name}`;

export const wrongKeys =
  "None of the encryption keys opens what this database holds. Put the key that was used before into ENCRYPTION_KEYS.";

type Secret = { name: string; encrypted: Buffer; createdAt: Date };

const secret = table("sharedSecret");
const insertRoot = statement<Secret>(({ name, encrypted, createdAt }) => {
  const row = insert("sharedSecret", { name, encrypted, createdAt });
  return sql`${row} ON CONFLICT DO NOTHING`;
});
const selectRoot = statement<{ name: string }>(
  ({ name }) => sql`SELECT ${secret.encrypted} AS encrypted FROM ${secret} WHERE ${secret.name} = ${name}`,
);

/** The first process to start makes the root. Errors: DatabaseStartError if none of the keys decrypts it. */
export async function loadSharedSecrets(db: Db, keys: EncryptionKeys, now: Date): Promise<SharedSecrets> {
  const encrypted = seal(keys, rootPurpose(rootName), randomBytes(32));
  await run(db.pool, insertRoot, { name: rootName, encrypted, createdAt: now });
  const root = await openRoot(db.pool, keys);
  if (root === null) throw new DatabaseStartError(wrongKeys);
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", root, "", purpose, 32));
  const derived = Object.entries(purposes).map(([name, purpose]) => [name, derive(purpose)]);
  return Object.fromEntries(derived) as SharedSecrets;
}

/** Errors: DatabaseStartError if none of the keys decrypts the secrets. */
export async function checkSecrets(db: Queryable, keys: EncryptionKeys): Promise<void> {
  if (!(await opensSecrets(db, keys))) throw new DatabaseStartError(wrongKeys);
}

/** Whether one of the keys decrypts the secrets of the database; false if it holds none. */
export const opensSecrets = async (db: Queryable, keys: EncryptionKeys): Promise<boolean> =>
  (await openRoot(db, keys)) !== null;

async function openRoot(db: Queryable, keys: EncryptionKeys): Promise<Buffer | null> {
  const [found] = await findRows<{ encrypted: Buffer }>(db, selectRoot, { name: rootName });
  return found ? unseal(keys, rootPurpose(rootName), found.encrypted) : null;
}
