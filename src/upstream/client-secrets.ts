import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { findRows, run, sql, statement, update, type Queryable } from "../platform/database/sql.ts";
import { connection } from "./ready-connection.ts";
import { openJson, sealJson, secretPurpose } from "./sealed-json.ts";

const lockSecrets = statement(
  () => sql`SELECT ${connection.id}, ${connection.clientSecret} AS secret FROM ${connection}
    WHERE ${connection.clientSecret} IS NOT NULL FOR NO KEY UPDATE`,
);
const replaceSecret = statement<{ id: string; clientSecret: Buffer }>(
  ({ id, clientSecret }) =>
    sql`${update("upstreamConnection", "connection", { clientSecret })} WHERE ${connection.id} = ${id}`,
);

/** Encrypts the secrets of all connections with the first key; returns how many there are. */
export async function reEncryptUpstreamSecrets(tx: Queryable, keys: EncryptionKeys): Promise<number> {
  const rows = await findRows<{ id: string; secret: Buffer }>(tx, lockSecrets, {});
  for (const { id, secret } of rows) {
    const plain = openJson<string>(keys, secretPurpose(id), secret);
    if (plain === null) throw new Error(`none of the encryption keys opens the client secret of the connection ${id}`);
    await run(tx, replaceSecret, { id, clientSecret: sealJson(keys, secretPurpose(id), plain) });
  }
  return rows.length;
}

/**
 * Removes what only lost encryption keys decrypt; returns the number of connections whose secret is typed in again
 * before they can be switched on.
 */
export async function forgetLostUpstreamSecrets({ prisma }: RecordStore): Promise<number> {
  await prisma.upstreamRefusal.deleteMany();
  await prisma.upstreamRecentSignIn.deleteMany();
  const data = { clientSecret: null, state: "DRAFT" as const };
  const { count } = await prisma.upstreamConnection.updateMany({ where: { clientSecret: { not: null } }, data });
  return count;
}
