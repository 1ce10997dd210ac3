import { hkdfSync, randomBytes } from "node:crypto";
import type { Db } from "../../platform/db.ts";
import { DatabaseStartError } from "../../platform/postgres/index.ts";
import { type EncryptionKeys, seal, unseal } from "../../platform/seal.ts";

/** Secrets that all processes share; each is derived from one root and is of use for its purpose only. */
export type SharedSecrets = { cookies: Buffer; csrf: Buffer; loginHint: Buffer; signInTraces: Buffer; replay: Buffer };

const rootName = "root";
export const rootPurpose = (name: string): string => `shared secret ${name}`;

/** Makes the root at the first start; whoever comes second takes the first one's. */
export async function loadSharedSecrets({
  db,
  keys,
  now,
}: {
  db: Db;
  keys: EncryptionKeys;
  now: Date;
}): Promise<SharedSecrets> {
  await db.pool.query(
    "INSERT INTO shared_secret (name, encrypted, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
    [rootName, seal(keys, rootPurpose(rootName), randomBytes(32)), now],
  );
  const { rows } = await db.pool.query<{ encrypted: Buffer }>("SELECT encrypted FROM shared_secret WHERE name = $1", [
    rootName,
  ]);
  const root = rows[0] && unseal(keys, rootPurpose(rootName), rows[0].encrypted);
  if (!root)
    throw new DatabaseStartError(
      "None of the encryption keys opens what this database holds. Put the key that was used before into ENCRYPTION_KEYS.",
    );
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", root, "", purpose, 32));
  return {
    cookies: derive("cookies"),
    csrf: derive("csrf"),
    loginHint: derive("login hint"),
    signInTraces: derive("sign-in traces"),
    replay: derive("replay"),
  };
}
