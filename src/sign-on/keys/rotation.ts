import { recordAudit } from "../../events/index.ts";
import type { Db, Queryable } from "../../platform/db.ts";
import { withTransaction } from "../../platform/db.ts";
import type { EncryptionKeys } from "../../platform/seal.ts";
import { type Algorithm, algorithms, makeSigningKey, type NewKey } from "./signing-keys.ts";

type Deps = { db: Db; keys: EncryptionKeys; now: Date };

// One process at a time makes or changes signing keys.
const lockKeys = "SELECT pg_advisory_xact_lock(hashtext('schultor signing keys'))";

/** Makes the first keys: for every algorithm one that signs and the one that will be next. */
export async function ensureSigningKeys({ db, keys, now }: Deps): Promise<void> {
  if (await hasAllKeys(db.pool)) return;
  await withTransaction(db, async (tx) => {
    await tx.query(lockKeys);
    for (const algorithm of algorithms) {
      const { rows } = await tx.query<{ state: string }>("SELECT state::text FROM signing_key WHERE algorithm = $1", [
        algorithm,
      ]);
      for (const state of ["ACTIVE", "NEXT"] as const) {
        if (!rows.some((row) => row.state === state))
          await insertKey(tx, { algorithm, state, now, key: await makeSigningKey(algorithm, keys) });
      }
    }
  });
}

async function hasAllKeys(db: Queryable): Promise<boolean> {
  const { rows } = await db.query("SELECT FROM signing_key WHERE state IN ('ACTIVE', 'NEXT')");
  return rows.length >= algorithms.length * 2;
}

/**
 * Lets the next key of each algorithm sign, retires the one that did, and publishes a new next one.
 *
 * Shape: apps have seen the key that now begins to sign since the rotation before; the retired one stays published
 *        until the tokens it signed have expired (`dropRetiredKeys`).
 */
export async function rotateSigningKeys({ db, keys, now }: Deps): Promise<{ algorithm: Algorithm; kid: string }[]> {
  const made = await Promise.all(
    algorithms.map(async (algorithm) => ({ algorithm, key: await makeSigningKey(algorithm, keys) })),
  );
  return withTransaction(db, async (tx) => {
    await tx.query(lockKeys);
    await tx.query("UPDATE signing_key SET state = 'RETIRED', retired_at = $1 WHERE state = 'ACTIVE'", [now]);
    const { rows } = await tx.query<{ algorithm: Algorithm; kid: string }>(
      "UPDATE signing_key SET state = 'ACTIVE', activated_at = $1 WHERE state = 'NEXT' RETURNING algorithm::text, kid",
      [now],
    );
    for (const { algorithm, key } of made) await insertKey(tx, { algorithm, state: "NEXT", now, key });
    await recordAudit(tx, { at: now, action: "signing_key_rotated", detail: { active: rows.map(({ kid }) => kid) } });
    return rows;
  });
}

/** Deletes retired keys whose last tokens have expired. */
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
  await db.pool.query("DELETE FROM signing_key WHERE state = 'RETIRED' AND retired_at < $1", [before]);
}

// Other processes sign with the old key until they have noticed, and clocks differ.
const clockSkewSeconds = 600;

async function insertKey(
  tx: Queryable,
  { algorithm, state, now, key }: { algorithm: Algorithm; state: "ACTIVE" | "NEXT"; now: Date; key: NewKey },
): Promise<void> {
  await tx.query(
    `INSERT INTO signing_key (kid, algorithm, state, public_jwk, encrypted_private, created_at, activated_at)
     VALUES ($1, $2::id_token_algorithm, $3::signing_key_state, $4, $5, $6, $7)`,
    [
      key.kid,
      algorithm,
      state,
      JSON.stringify(key.publicJwk),
      key.encryptedPrivate,
      now,
      state === "ACTIVE" ? now : null,
    ],
  );
}
