import type { UpstreamNormalisation, UpstreamRuleField, UpstreamState } from "../../generated/prisma/enums.ts";
import type { GroupId, SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import type { FailureCode } from "./failures.ts";
import type { ConnectionId } from "./ids.ts";
import type { AuthMethod, Profile } from "./profiles.ts";

export type RuleField = UpstreamRuleField;
export type Normalisation = UpstreamNormalisation;
export type ConnectionState = UpstreamState;

/** Which claim must equal which field of the roster. Without a claim, staff link by hand only. */
export type Rule = {
  ruleClaim: string | null;
  ruleField: RuleField;
  normalisations: Normalisation[];
};

export type ConnectionSettings = Rule & {
  name: string;
  issuer: string | null;
  clientId: string | null;
  secretExpiresAt: Date | null;
  authMethod: AuthMethod;
  scopes: string[];
  tenant: string | null;
  subjectClaim: string;
  /** Only people of these groups; empty: everybody at home in the school. */
  groupIds: GroupId[];
  createsGuests: boolean;
  trustedForSecondFactor: boolean;
  endsUpstreamSession: boolean;
};

export type Connection = ConnectionSettings & {
  id: ConnectionId;
  schoolId: SchoolId;
  profile: Profile;
  hasSecret: boolean;
  state: ConnectionState;
  /** When its discovery document was last read. */
  metadataReadAt: Date | null;
  testedAt: Date | null;
  lastSuccessAt: Date | null;
  failingSince: Date | null;
  lastFailure: FailureCode | null;
  lastFailureAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

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

type Context = { keys: EncryptionKeys; allowHttp: boolean; origin: Origin };

export declare function createConnectionIn(tx: Transaction, made: NewConnection, context: Context): Promise<ConnectionId>;
export declare function updateConnectionIn(
  tx: Transaction,
  change: { id: ConnectionId; update: ConnectionUpdate },
  context: Context,
): Promise<void>;
export declare function deleteConnectionIn(tx: Transaction, id: ConnectionId, origin: Origin): Promise<void>;
export declare function findConnection(db: RecordStore, id: ConnectionId): Promise<Connection | null>;
export declare function listConnections(
  db: RecordStore,
  of: { schoolIds?: readonly SchoolId[] | undefined; after?: string | undefined; limit: number },
): Promise<Connection[]>;
