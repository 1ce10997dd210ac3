import type { Prisma } from "../../generated/prisma/client.ts";
import type { UpstreamNormalisation, UpstreamRuleField, UpstreamState } from "../../generated/prisma/enums.ts";
import type { GroupId, SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import type { FailureCode } from "./failures.ts";
import type { ConnectionId } from "./ids.ts";
import type { AuthMethod, Profile } from "./profiles.ts";

export type RuleField = UpstreamRuleField;
export type Normalisation = UpstreamNormalisation;
export type ConnectionState = UpstreamState;

type Coded = {
  id: ConnectionId;
  schoolId: SchoolId;
  authMethod: AuthMethod;
  groupIds: GroupId[];
  lastFailure: FailureCode | null;
};
/** A row, whose columns prisma/schema describes. */
export type StoredConnection = Omit<Prisma.UpstreamConnectionModel, keyof Coded> & Coded;

const omitted = { metadata: true, keys: true, keysReadAt: true, refreshAt: true } as const;
type Row = Omit<Prisma.UpstreamConnectionModel, keyof typeof omitted>;

export type Connection = Omit<StoredConnection, keyof typeof omitted | "clientSecret"> & { hasSecret: boolean };

/** Which claim must equal which field of the roster. Without a claim, staff link by hand only. */
export type Rule = Pick<Connection, "ruleClaim" | "ruleField" | "normalisations">;

/** The settings of a new connection, apart from those that its profile decides. */
export const defaults = {
  issuer: null,
  clientId: null,
  secretExpiresAt: null,
  tenant: null,
  schoolClaim: null,
  schoolValue: null,
  ruleClaim: null,
  ruleField: "SOURCE_SYSTEM_IDENTIFIER" as const,
  normalisations: [],
  groupIds: [],
  createsGuests: false,
  confirmedForStaff: true,
  trustedForSecondFactor: false,
  endsUpstreamSession: false,
} satisfies Partial<Connection>;

export type ConnectionSettings = Pick<
  Connection,
  keyof typeof defaults | "name" | "authMethod" | "scopes" | "subjectClaim"
>;

/** What is left out is as the profile says. */
export type NewConnection = Partial<ConnectionSettings> & {
  schoolId: SchoolId;
  profile: Profile;
  name: string;
  clientSecret?: string | undefined;
};

export type ConnectionUpdate = Partial<ConnectionSettings> & {
  clientSecret?: string | undefined;
  state?: "ON" | "OFF" | undefined;
};

export const connectionNotFound = (): AppError =>
  new AppError("not_found", "upstream_connection_not_found", "The connection does not exist.");

const present = ({ clientSecret, ...row }: Row): Connection => ({
  ...row,
  id: row.id as ConnectionId,
  schoolId: row.schoolId as SchoolId,
  authMethod: row.authMethod as AuthMethod,
  groupIds: row.groupIds as GroupId[],
  lastFailure: row.lastFailure as FailureCode | null,
  hasSecret: clientSecret !== null,
});

export async function findConnection({ prisma }: RecordStore, id: ConnectionId): Promise<Connection | null> {
  const connection = await prisma.upstreamConnection.findUnique({ where: { id }, omit: omitted });
  return connection && present(connection);
}

export const lockConnection = makeRowLock("upstreamConnection", "id", "upstream.lockConnection");

type ListedConnections = {
  schoolIds?: readonly SchoolId[] | undefined;
  isFailing?: boolean | undefined;
  /** Only connections whose secret expires by this time, or only the others. */
  secretExpires?: { isSoon: boolean; until: Date } | undefined;
  after?: string | undefined;
  limit: number;
};

// A connection that is off needs no attention.
const failing = { failingSince: { not: null }, state: "ON" as const };
const expiring = (until: Date) => ({ secretExpiresAt: { not: null, lte: until }, state: { not: "OFF" as const } });

const onlyIf = <T extends object>(is: boolean | undefined, where: T) =>
  is === undefined ? [] : [is ? where : { NOT: where }];

/** In the order of their ids; `after` is the last of the page before. */
export async function listConnections({ prisma }: RecordStore, of: ListedConnections): Promise<Connection[]> {
  const { schoolIds, isFailing, secretExpires, after, limit } = of;
  const where = {
    ...(schoolIds !== undefined && { schoolId: { in: [...schoolIds] } }),
    AND: [
      ...onlyIf(isFailing, failing),
      ...(secretExpires === undefined ? [] : onlyIf(secretExpires.isSoon, expiring(secretExpires.until))),
    ],
    ...(after !== undefined && { id: { gt: after } }),
  };
  const connections = await prisma.upstreamConnection.findMany({
    where,
    orderBy: { id: "asc" },
    take: limit,
    omit: omitted,
  });
  return connections.map(present);
}

/** What is typed at the provider. */
export type ConnectionAddresses = { redirectUri: string; backchannelLogoutUri: string; postLogoutRedirectUri: string };

/** A redirect URI for each connection, so that one provider cannot send what another answered. */
export function addressesOf(issuerUrl: string, connectionId: ConnectionId): ConnectionAddresses {
  const base = `${issuerUrl.replace(/\/$/, "")}/upstream/${connectionId}`;
  return {
    redirectUri: `${base}/callback`,
    backchannelLogoutUri: `${base}/backchannel-logout`,
    postLogoutRedirectUri: `${base}/signed-out`,
  };
}
