import { openJson, sealJson, secretPurpose } from "./sealed-json.ts";
import { fields, makeFind, makeRun, pick, sql, table, update } from "../platform/database/sql.ts";
import type { Queryable, Sql } from "../platform/database/sql.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { StoredConnection } from "./connection.ts";
import { UpstreamError } from "./failures.ts";
import type { KeySet, Metadata } from "./metadata.ts";
import type { RecordStore } from "../platform/database/db.ts";

/** What a round trip needs of a connection. */
export type ConnectionRow = Omit<
  StoredConnection,
  | ("name" | "secretExpiresAt" | "metadataReadAt" | "refreshAt" | "testedAt" | "createdAt" | "updatedAt")
  | ("lastFailure" | "lastFailureAt" | "clientSecret" | "metadata" | "keys")
> & { clientSecret: Buffer | null; metadata: Metadata | null; keys: KeySet | null };

/** A connection whose provider can be called. */
export type ReadyConnection = Omit<ConnectionRow, "issuer" | "clientId" | "clientSecret"> & {
  issuer: string;
  clientId: string;
  clientSecret: string;
};

export const connection = table("upstreamConnection", "connection");

const provider = pick(
  connection,
  "id",
  "schoolId",
  "profile",
  "issuer",
  "clientId",
  "clientSecret",
  "authMethod",
  "scopes",
);
const accounts = pick(connection, "tenant", "schoolClaim", "schoolValue", "subjectClaim", "ruleClaim", "ruleField");
const effects = pick(connection, "createsGuests", "confirmedForStaff", "trustedForSecondFactor", "endsUpstreamSession");
const states = pick(connection, "state", "metadata", "keys", "keysReadAt", "lastSuccessAt", "failingSince");

export const connectionFields: Sql = fields<ConnectionRow>({
  ...provider,
  ...accounts,
  ...effects,
  ...states,
  normalisations: sql`${connection.normalisations}::text[]`,
  groupIds: sql`${connection.groupIds}::text[]`,
});

/** Errors: CONNECTION_OFF while something is missing. */
export function readyOf(row: ConnectionRow, keys: EncryptionKeys): ReadyConnection {
  const { issuer, clientId, clientSecret: sealed } = row;
  if (issuer === null || clientId === null || sealed === null) throw new UpstreamError("CONNECTION_OFF", "incomplete");
  const clientSecret = openJson<string>(keys, secretPurpose(row.id), sealed);
  if (clientSecret === null) throw new UpstreamError("CONNECTION_OFF", "no encryption key opens the secret");
  return { ...row, issuer, clientId, clientSecret };
}

const lockSecrets = makeFind<{ id: string; secret: Buffer }>()`
  SELECT ${connection.id}, ${connection.clientSecret} AS secret FROM ${connection}
    WHERE ${connection.clientSecret} IS NOT NULL FOR NO KEY UPDATE`;
const replaceSecret = makeRun<{ id: string; clientSecret: Buffer }>()`
  ${({ clientSecret }) => update("upstreamConnection", "connection", { clientSecret })}
    WHERE ${connection.id} = ${"id"}`;

/** Encrypts the secrets of all connections with the first key; returns how many there are. */
export async function reEncryptUpstreamSecrets(tx: Queryable, keys: EncryptionKeys): Promise<number> {
  const rows = await lockSecrets(tx, {});
  for (const { id, secret } of rows) {
    const plain = openJson<string>(keys, secretPurpose(id), secret);
    if (plain === null) throw new Error(`none of the encryption keys opens the client secret of the connection ${id}`);
    await replaceSecret(tx, { id, clientSecret: sealJson(keys, secretPurpose(id), plain) });
  }
  return rows.length;
}

/** Removes what only lost keys decrypt; returns how many connections need their secret again to be switched on. */
export async function forgetLostUpstreamSecrets({ prisma }: RecordStore): Promise<number> {
  await prisma.upstreamRefusal.deleteMany();
  await prisma.upstreamRecentSignIn.deleteMany();
  const data = { clientSecret: null, state: "DRAFT" as const };
  const { count } = await prisma.upstreamConnection.updateMany({ where: { clientSecret: { not: null } }, data });
  return count;
}
