import type { GroupId, SchoolId } from "../directory/index.ts";
import { openJson, secretPurpose } from "./sealed-json.ts";
import { fields, sql, table, type Sql } from "../platform/database/sql.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { ConnectionState, Rule } from "./connection.ts";
import { UpstreamError } from "./failures.ts";
import type { ConnectionId } from "./ids.ts";
import type { KeySet, Metadata } from "./metadata.ts";
import type { AuthMethod, Profile } from "./profiles.ts";

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
