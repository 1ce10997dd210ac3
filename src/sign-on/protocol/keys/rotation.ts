import { recordAudit, type Origin } from "../../../events/index.ts";
import type { Db, PrismaDb, Queryable, Transaction } from "../../../platform/database/db.ts";
import { withPrismaTransaction, withTransaction } from "../../../platform/database/db.ts";
import { AppError } from "../../../platform/errors.ts";
import type { EncryptionKeys } from "../../../platform/crypto/seal.ts";
import { fields, findRows, insert, run, sql, statement, table, update } from "../../../platform/database/sql.ts";
import { type Algorithm, algorithms, describeSigningKeys, makeSigningKey, type NewKey } from "./signing-keys.ts";

type Deps = { db: PrismaDb; keys: EncryptionKeys; now: Date };

const lockKeys = statement(() => sql`SELECT pg_advisory_xact_lock(hashtext('schultor signing keys'))`);

const key = table("signingKey");

const selectStates = statement<{ algorithm: Algorithm }>(
  ({ algorithm }) => sql`
    SELECT ${key.state}::text AS state FROM ${key} WHERE ${key.algorithm} = ${algorithm}::id_token_algorithm`,
);

/** Makes the first keys: per algorithm an active and a next one. */
export async function ensureSigningKeys({ db, keys, now }: Deps): Promise<void> {
  if (await hasAllKeys(db.pool)) return;
  await withTransaction(db, async (tx) => {
    await run(tx, lockKeys, {});
    for (const algorithm of algorithms) {
      const rows = await findRows<{ state: string }>(tx, selectStates, { algorithm });
      for (const state of ["ACTIVE", "NEXT"] as const) {
        if (!rows.some((row) => row.state === state))
          await insertKey(tx, { algorithm, state, now, made: await makeSigningKey(algorithm, keys) });
      }
    }
  });
}

const selectUsable = statement(() => sql`SELECT FROM ${key} WHERE ${key.state} IN ('ACTIVE', 'NEXT')`);

async function hasAllKeys(db: Queryable): Promise<boolean> {
  return (await run(db, selectUsable, {})) >= algorithms.length * 2;
}

const retire = statement<{ now: Date }>(
  ({ now }) => sql`
    ${update("signingKey", "signing_key", { state: sql`'RETIRED'`, retiredAt: now })} WHERE ${key.state} = 'ACTIVE'`,
);

const activate = statement<{ now: Date }>(
  ({ now }) => sql`
    ${update("signingKey", "signing_key", { state: sql`'ACTIVE'`, activatedAt: now })} WHERE ${key.state} = 'NEXT'
    RETURNING ${fields<Activated>({ algorithm: sql`${key.algorithm}::text`, kid: key.kid })}`,
);

type Activated = { algorithm: Algorithm; kid: string };

type Rotation = {
  /** Lets the next keys sign even if apps may not have them yet. */
  isForced: boolean;
};

/**
 * Activates the next key of each algorithm, retires the active one and publishes a new next one. The retired key stays
 * published until its last token has expired (`dropRetiredKeys`).
 *
 * Errors: conflict signing_key_too_new while apps may not have the next keys yet (`usableFrom`), unless forced.
 */
export async function rotateSigningKeys({ db, keys, now, isForced }: Deps & Rotation): Promise<Activated[]> {
  const next = await makeNextKeys(keys);
  return withPrismaTransaction(db, (tx) => rotateSigningKeysIn(tx, next, { isForced }, { at: now }));
}

type NextKeys = readonly { algorithm: Algorithm; made: NewKey }[];

/** Makes a key of each algorithm before the transaction, because it takes long. */
export const makeNextKeys = (keys: EncryptionKeys): Promise<NextKeys> =>
  Promise.all(algorithms.map(async (algorithm) => ({ algorithm, made: await makeSigningKey(algorithm, keys) })));

export async function rotateSigningKeysIn(
  tx: Transaction,
  next: NextKeys,
  { isForced }: Rotation,
  origin: Origin,
): Promise<Activated[]> {
  const now = origin.at;
  await run(tx, lockKeys, {});
  const usableAt = latestOf((await describeSigningKeys(tx)).map((one) => one.usableAt));
  const isTooNew = usableAt !== null && usableAt > now;
  if (isTooNew && !isForced)
    throw new AppError(
      "conflict",
      "signing_key_too_new",
      "Apps may not have the next keys yet. " +
        `The keys can be rotated from ${usableAt.toISOString()} on, or at once with force.`,
    );
  await run(tx, retire, { now });
  const rows = await findRows<Activated>(tx, activate, { now });
  for (const key of next) await insertKey(tx, { ...key, state: "NEXT", now });
  const detail = { active: rows.map(({ kid }) => kid), ...(isTooNew && { forced: true }) };
  await recordAudit(tx, { ...origin, action: "signing_key_rotated", detail });
  return rows;
}

const latestOf = (times: readonly (Date | null)[]): Date | null =>
  times.reduce((latest, time) => (time !== null && (latest === null || time > latest) ? time : latest), null);

const deleteRetired = statement<{ before: Date }>(
  ({ before }) => sql`DELETE FROM ${key} WHERE ${key.state} = 'RETIRED' AND ${key.retiredAt} < ${before}`,
);

/** Deletes retired keys whose last token has expired. */
export async function dropRetiredKeys({
  db,
  now,
  idTokenSeconds,
}: {
  db: Db;
  now: Date;
  idTokenSeconds: number;
}): Promise<void> {
  const before = new Date(now.getTime() - (idTokenSeconds + clockSkewSeconds) * 1000);
  await run(db.pool, deleteRetired, { before });
}

// Other processes sign with the old key until they notice the change, and clocks differ.
const clockSkewSeconds = 600;

type KeyRow = {
  kid: string;
  algorithm: Algorithm;
  state: "ACTIVE" | "NEXT";
  publicJwk: string;
  encryptedPrivate: Buffer;
  createdAt: Date;
  activatedAt: Date | null;
};

const insertStatement = statement<KeyRow>((given) =>
  insert("signingKey", {
    kid: given.kid,
    publicJwk: given.publicJwk,
    encryptedPrivate: given.encryptedPrivate,
    createdAt: given.createdAt,
    activatedAt: given.activatedAt,
    algorithm: sql`${given.algorithm}::id_token_algorithm`,
    state: sql`${given.state}::signing_key_state`,
  }),
);

async function insertKey(
  tx: Queryable,
  { algorithm, state, now, made }: { algorithm: Algorithm; state: "ACTIVE" | "NEXT"; now: Date; made: NewKey },
): Promise<void> {
  const { kid, publicJwk, encryptedPrivate } = made;
  await run(tx, insertStatement, {
    kid,
    algorithm,
    state,
    publicJwk: JSON.stringify(publicJwk),
    encryptedPrivate,
    createdAt: now,
    activatedAt: state === "ACTIVE" ? now : null,
  });
}
