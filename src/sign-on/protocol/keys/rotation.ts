import { recordAudit, type Origin } from "../../../events/index.ts";
import { withTransaction, type Db, type Transaction } from "../../../platform/database/db.ts";
import { fields, insert, lockName, makeFind, makeRun, sql, table, update } from "../../../platform/database/sql.ts";
import type { Queryable } from "../../../platform/database/sql.ts";
import { AppError } from "../../../platform/errors.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { WorkerJob } from "../../../platform/jobs/worker.ts";
import type { EncryptionKeys } from "../../../platform/crypto/seal.ts";
import { describeSigningKeys, cutoff } from "./published-keys.ts";
import { type Algorithm, algorithms, makeSigningKey, type NewKey } from "./signing-keys.ts";
import { longestSessionSeconds } from "../session.ts";

const signingKeys = { name: "schultor signing keys" };

const key = table("signingKey");

const findStates = makeFind<{ state: string }, { algorithm: Algorithm }>()`
    SELECT ${key.state}::text AS state FROM ${key} WHERE ${key.algorithm} = ${"algorithm"}::id_token_algorithm`;

export async function ensureSigningKeys(db: Db, keys: EncryptionKeys, now: Date): Promise<void> {
  if ((await countUsable(db.pool, {})) >= algorithms.length * 2) return;
  await withTransaction(db, async (tx) => {
    await lockName(tx, signingKeys);
    for (const algorithm of algorithms) {
      const rows = await findStates(tx, { algorithm });
      for (const state of ["ACTIVE", "NEXT"] as const) {
        if (!rows.some((row) => row.state === state))
          await insertKey(tx, { algorithm, state, now, made: await makeSigningKey(algorithm, keys) });
      }
    }
  });
}

const countUsable = makeRun()`SELECT FROM ${key} WHERE ${key.state} IN ('ACTIVE', 'NEXT')`;

const retire = makeRun<{ now: Date }>()`
    ${({ now }) => update("signingKey", "signing_key", { state: sql`'RETIRED'`, retiredAt: now })}
      WHERE ${key.state} = 'ACTIVE'`;

const activate = makeFind<Activated, { now: Date }>()`
    ${({ now }) => update("signingKey", "signing_key", { state: sql`'ACTIVE'`, activatedAt: now })}
      WHERE ${key.state} = 'NEXT'
    RETURNING ${fields<Activated>({ algorithm: sql`${key.algorithm}::text`, kid: key.kid })}`;

type Activated = { algorithm: Algorithm; kid: string };

type NextKeys = readonly { algorithm: Algorithm; made: NewKey }[];

/** Call this before the transaction starts: generating keys is slow. */
export const makeNextKeys = (keys: EncryptionKeys): Promise<NextKeys> =>
  Promise.all(algorithms.map(async (algorithm) => ({ algorithm, made: await makeSigningKey(algorithm, keys) })));

/**
 * Activates the next key of each algorithm, retires the active one and publishes a new next one.
 *
 * Errors: conflict signing_key_too_new while apps may not have the next keys yet, unless forced.
 */
export async function rotateSigningKeysIn(
  tx: Transaction,
  next: NextKeys,
  { isForced, idTokenSeconds }: { isForced: boolean; idTokenSeconds: number },
  origin: Origin,
): Promise<Activated[]> {
  const now = origin.at;
  await lockName(tx, signingKeys);
  const usableAt = latestOf((await describeSigningKeys(tx, { now, idTokenSeconds })).map((one) => one.usableAt));
  const isTooNew = usableAt !== null && usableAt > now;
  if (isTooNew && !isForced)
    throw new AppError(
      "conflict",
      "signing_key_too_new",
      "Apps may not have the next keys yet. " +
        `The keys can be rotated from ${usableAt.toISOString()} on, or at once with force.`,
    );
  await retire(tx, { now });
  const rows = await activate(tx, { now });
  for (const key of next) await insertKey(tx, { ...key, state: "NEXT", now });
  const detail = { active: rows.map(({ kid }) => kid), ...(isTooNew && { forced: true }) };
  await recordAudit(tx, { ...origin, action: "signing_key_rotated", detail });
  return rows;
}

const latestOf = (times: readonly (Date | null)[]): Date | null =>
  times.reduce((latest, time) => (time !== null && (latest === null || time > latest) ? time : latest), null);

const deleteRetired = makeRun<{ before: Date }>()`
  DELETE FROM ${key} WHERE ${key.state} = 'RETIRED' AND ${key.retiredAt} < ${"before"}`;

/** Keeps retired keys for as long as apps may hint at a session with an ID token that they signed. */
export function makeRetiredKeysJob({ db, clock, lifetimes }: RetiredKeysDeps): WorkerJob {
  return {
    name: "sign-on.dropRetiredKeys",
    everySeconds: 600,
    async run() {
      const longest = Math.max(lifetimes.idTokenSeconds, lifetimes.sessionSeconds, longestSessionSeconds);
      const before = cutoff(clock(), longest);
      await deleteRetired(db.pool, { before });
    },
  };
}

type RetiredKeysDeps = {
  db: Db;
  clock: Clock;
  lifetimes: { idTokenSeconds: number; sessionSeconds: number };
};

type NewState = { algorithm: Algorithm; state: "ACTIVE" | "NEXT"; now: Date };
type KeyRow = NewState & Omit<NewKey, "publicJwk"> & { publicJwk: string; activatedAt: Date | null };

const insertRow = makeRun<KeyRow>(
  ({ kid, algorithm, state, publicJwk, encryptedPrivate, now: createdAt, activatedAt }) =>
    insert("signingKey", {
      kid,
      algorithm: sql`${algorithm}::id_token_algorithm`,
      state: sql`${state}::signing_key_state`,
      publicJwk,
      encryptedPrivate,
      createdAt,
      activatedAt,
    }),
);

async function insertKey(tx: Queryable, { made, ...row }: NewState & { made: NewKey }): Promise<void> {
  const activatedAt = row.state === "ACTIVE" ? row.now : null;
  await insertRow(tx, { ...row, ...made, publicJwk: JSON.stringify(made.publicJwk), activatedAt });
}
