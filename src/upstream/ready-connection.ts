import type { GroupId, SchoolId } from "../directory/index.ts";
import { openJson, sealJson, secretPurpose } from "./sealed-json.ts";
import { fields, findRows, run, sql, statement, table, update } from "../platform/database/sql.ts";
import type { Queryable, Sql } from "../platform/database/sql.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { ConnectionState, Rule } from "./connection.ts";
import { UpstreamError } from "./failures.ts";
import type { ConnectionId } from "./ids.ts";
import type { KeySet, Metadata } from "./metadata.ts";
import type { AuthMethod, Profile } from "./profiles.ts";
import type { RecordStore } from "../platform/database/db.ts";

/** What a round trip needs of a connection. */
export type ConnectionRow = Rule & {
  id: ConnectionId;
  schoolId: SchoolId;
  profile: Profile;
  issuer: string | null;
  clientId: string | null;
  clientSecret: Buffer | null;
  authMethod: AuthMethod;
  scopes: string[];
  tenant: string | null;
  schoolClaim: string | null;
  schoolValue: string | null;
  subjectClaim: string;
  state: ConnectionState;
  groupIds: GroupId[];
  createsGuests: boolean;
  confirmedForStaff: boolean;
  trustedForSecondFactor: boolean;
  endsUpstreamSession: boolean;
  metadata: Metadata | null;
  keys: KeySet | null;
  keysReadAt: Date | null;
  lastSuccessAt: Date | null;
  failingSince: Date | null;
};

/** A connection whose provider can be called. */
export type ReadyConnection = Omit<ConnectionRow, "issuer" | "clientId" | "clientSecret"> & {
  issuer: string;
  clientId: string;
  clientSecret: string;
};

export const connection = table("upstreamConnection", "connection");

export const connectionFields: Sql = fields<ConnectionRow>({
  id: connection.id,
  schoolId: connection.schoolId,
  profile: connection.profile,
  issuer: connection.issuer,
  clientId: connection.clientId,
  clientSecret: connection.clientSecret,
  authMethod: connection.authMethod,
  scopes: connection.scopes,
  tenant: connection.tenant,
  schoolClaim: connection.schoolClaim,
  schoolValue: connection.schoolValue,
  subjectClaim: connection.subjectClaim,
  ruleClaim: connection.ruleClaim,
  ruleField: connection.ruleField,
  normalisations: sql`${connection.normalisations}::text[]`,
  state: connection.state,
  groupIds: sql`${connection.groupIds}::text[]`,
  createsGuests: connection.createsGuests,
  confirmedForStaff: connection.confirmedForStaff,
  trustedForSecondFactor: connection.trustedForSecondFactor,
  endsUpstreamSession: connection.endsUpstreamSession,
  metadata: connection.metadata,
  keys: connection.keys,
  keysReadAt: connection.keysReadAt,
  lastSuccessAt: connection.lastSuccessAt,
  failingSince: connection.failingSince,
});

/** Errors: CONNECTION_OFF while something is missing. */
export function readyOf(row: ConnectionRow, keys: EncryptionKeys): ReadyConnection {
  const { issuer, clientId, clientSecret: sealed } = row;
  if (issuer === null || clientId === null || sealed === null) throw new UpstreamError("CONNECTION_OFF", "incomplete");
  const clientSecret = openJson<string>(keys, secretPurpose(row.id), sealed);
  if (clientSecret === null) throw new UpstreamError("CONNECTION_OFF", "no encryption key opens the secret");
  return { ...row, issuer, clientId, clientSecret };
}

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
