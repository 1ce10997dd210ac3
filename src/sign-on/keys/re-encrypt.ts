import { recordAudit } from "../../events/index.ts";
import { withTransaction, type Db, type Queryable } from "../../platform/db.ts";
import { DatabaseStartError } from "../../platform/postgres/index.ts";
import { seal, unseal, type EncryptionKeys } from "../../platform/seal.ts";
import { rootPurpose } from "./shared-secrets.ts";
import { purposeOf } from "./signing-keys.ts";

type Stored = { table: "signing_key" | "shared_secret"; id: string; purpose: string; sealed: Buffer };

const places = {
  signing_key: { id: "kid", column: "encrypted_private" },
  shared_secret: { id: "name", column: "encrypted" },
} as const;

async function listStored(tx: Queryable): Promise<Stored[]> {
  const keys = await tx.query<{ id: string; sealed: Buffer }>(
    "SELECT kid AS id, encrypted_private AS sealed FROM signing_key FOR UPDATE",
  );
  const secrets = await tx.query<{ id: string; sealed: Buffer }>(
    "SELECT name AS id, encrypted AS sealed FROM shared_secret FOR UPDATE",
  );
  return [
    ...keys.rows.map((row) => ({ ...row, table: "signing_key" as const, purpose: purposeOf(row.id) })),
    ...secrets.rows.map((row) => ({ ...row, table: "shared_secret" as const, purpose: rootPurpose(row.id) })),
  ];
}

/**
 * Encrypts everything that is kept encrypted anew with the first key, so that the others can be taken away.
 *
 * Shape:  answers how many values there are; all of them or none are changed.
 * Errors: DatabaseStartError when none of the keys opens one of them.
 */
export async function reEncryptSecrets({
  db,
  keys,
  now,
}: {
  db: Db;
  keys: EncryptionKeys;
  now: Date;
}): Promise<number> {
  return withTransaction(db, async (tx) => {
    const stored = await listStored(tx);
    for (const { table, id, purpose, sealed } of stored) {
      const plain = unseal(keys, purpose, sealed);
      if (plain === null)
        throw new DatabaseStartError(
          "None of the encryption keys opens what this database holds. Put the key that was used before into ENCRYPTION_KEYS.",
        );
      const place = places[table];
      await tx.query(`UPDATE ${table} SET ${place.column} = $2 WHERE ${place.id} = $1`, [
        id,
        seal(keys, purpose, plain),
      ]);
    }
    await recordAudit(tx, { at: now, action: "secrets_re_encrypted", detail: { values: stored.length } });
    return stored.length;
  });
}
