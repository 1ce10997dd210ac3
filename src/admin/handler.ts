import type { AccessToken, AgreementId, ClientId, ReceiptId } from "../access/index.ts";
import type { DataRequestId, GroupId, HandoverId, MergerId, PersonId, SchoolId } from "../directory/index.ts";
import type { RosterConnectionId, RosterRuns } from "../connections/index.ts";
import type { Origin } from "../events/index.ts";
import type { ImportId, ImportRequests } from "../imports/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Every } from "../platform/contract-types.ts";
import type { PrismaDb, Transaction } from "../platform/database/db.ts";
import type { HealthCheck } from "../platform/telemetry/health.ts";
import type { OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import type { ChangeAnswer, ChangeRequest, InnerFetch, Upload } from "../platform/http/index.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { SharedReads } from "../platform/database/prisma.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { BatchId, CardId, MakeCard, MakeClassCode } from "../accounts/index.ts";
import type { RetentionRules } from "../retention/index.ts";
import type { RoleHolder, StaffRole, StaffRoleId } from "../staff/index.ts";
import type { Upstream } from "../upstream/index.ts";
import type { AttemptRules, ListenerWaits } from "../webhooks/index.ts";
import type { components, operations } from "../../generated/openapi/admin.ts";
import shapes from "../../generated/openapi/admin-shapes.json" with { type: "json" };
import type { Page } from "./page.ts";
import type { SetUpCaller } from "./set-up.ts";
import type { PersonReach } from "./reached.ts";

export type AdminDeps = {
  db: PrismaDb;
  clock: Clock;
  keys: EncryptionKeys;
  /** For the secrets of webhook endpoints and the signing keys. */
  webhookKeys: EncryptionKeys;
  /** How long an ID token is valid. */
  idTokenSeconds: number;
  sessionSeconds: number;
  platform: string;
  /** Allows http addresses of apps on this machine, in development. */
  allowLoopbackHttp: boolean;
  /** Which addresses of apps the service may call. */
  policy: OutboundPolicy;
  restoreWindowDays: number;
  supportRoleDays: number;
  handoverDays: number;
  /** Whether sync needs an agreement between the school and the app's provider. */
  demandsAgreements: boolean;
  /** Days after which an erasure that an app has not confirmed is overdue. */
  erasureOverdueDays: number;
  idChangesDays: number;
  retention: components["schemas"]["RetentionPeriods"];
  operator: components["schemas"]["ServiceOperator"];
  retentionRules: RetentionRules;
  imports: ImportRequests;
  rosterRuns: Pick<RosterRuns, "start" | "sources">;
  healthChecks: readonly HealthCheck[];
  /** All jobs of the service, in every process. */
  jobs: readonly Pick<WorkerJob, "name" | "everySeconds">[];
  /** Where requests of listeners wait for deliveries, and when failed deliveries are tried again. */
  listeners: Pick<ListenerWaits, "wait"> & { rules: Omit<AttemptRules, "now"> };
  makeCard: MakeCard;
  makeClassCode: MakeClassCode;
  upstream: Pick<Upstream, "begin" | "checkConnection">;
  /** Whether the admin API accepts a token of the person only with a second factor. */
  needsSecondFactor(personId: PersonId): Promise<boolean>;
  issuerUrl: string;
  /** Calls the IDM API and Schulconnex in this process with the rights of an app. */
  fetchAsApp: (app: Pick<AccessToken, "clientId" | "scopes" | "namesRead" | "ids">, requestId: string) => InnerFetch;
};

export type AdminCaller = AccessToken & {
  /** As the audit log names them. */
  actorId: string;
  /** Who holds the roles; null for `setUp`, and for a program on the machine of the service, an operator. */
  holder: RoleHolder | null;
  /** The IT contact of a school, who has no roles. */
  setUp?: SetUpCaller;
  roles: readonly StaffRole[];
  /** Earlier reads for the same page; null for callers with a token, and for changes. */
  reads: SharedReads | null;
};

export type Operations = operations;
type NamesOf<Parameters> = Parameters extends object ? keyof Parameters : never;
export type PathName = NamesOf<Operations[keyof Operations]["parameters"]["path"]>;
export type Schemas = components["schemas"];
export type OperationId = keyof operations;

export const appActor = (clientId: string): string => `app:${clientId}`;

export type KeptAnswer = { status: number; body?: unknown; headers?: Record<string, string> };

/** Stores the answer of a creation in its transaction, so that a repeated request gets the same answer; returns it. */
export type Keep = <Answer extends KeptAnswer>(tx: Transaction, answer: Answer) => Promise<Answer>;

/** The ids in requests, by the names of their parameters and properties. */
type Ids = Record<"schoolId" | "schoolIds" | "toSchoolId" | "fromSchoolId" | "school", SchoolId> &
  Record<"personId" | "personIds" | "person" | "actor", PersonId> &
  Record<"groupId" | "groupIds" | "syncedGroupIds" | "group", GroupId> &
  Record<"clientId" | "clientIds" | "app", ClientId> & {
    importId: ImportId;
    rosterConnectionId: RosterConnectionId;
    handoverId: HandoverId;
    mergerId: MergerId;
    dataRequestId: DataRequestId;
    loginCardId: CardId;
    credentialBatchId: BatchId;
    staffRoleId: StaffRoleId;
    agreementId: AgreementId;
    agreementReceiptId: ReceiptId;
  };
type Branded<Value, Id> = Value extends string ? Id : Value extends string[] ? Id[] : Value;
type WithIds<T> = { [Name in keyof T]: Name extends keyof Ids ? Branded<T[Name], Ids[Name]> : T[Name] };
type PathIds<Path> = [Path] extends [never] ? unknown : WithIds<Path>;
type BodyWithIds<Body> = Body extends Upload | Buffer ? Body : WithIds<Body>;

export type PlainRequest<Id extends OperationId> = ChangeRequest<operations[Id], AdminCaller>;

/** The parameters of the path are properties of the request. */
export type AdminRequest<Id extends OperationId> = Omit<PlainRequest<Id>, "path" | "query" | "body"> &
  PathIds<PlainRequest<Id>["path"]> & {
    query: WithIds<PlainRequest<Id>["query"]>;
    body: BodyWithIds<PlainRequest<Id>["body"]>;
    operationId: Id;
    /** The path, without the query. */
    address: string;
    /** The schools and apps of the caller's roles that allow the operation. */
    reach: PersonReach;
    /** The same at this moment, for a request that waited. Errors: forbidden role_forbids. */
    reachNow(): Promise<PersonReach>;
    origin: Origin & { requestId: string; actorId: string };
    /** The part of a list that is asked for. */
    page: Page;
    keep: Keep;
  };

export type AdminHandler<Id extends OperationId> = (
  deps: AdminDeps,
  request: AdminRequest<Id>,
) => Promise<ChangeAnswer<operations[Id]["responses"]>>;

/** The properties of each record of the contract, with the name of the record that they hold. */
type Shapes = Readonly<Record<string, Readonly<Record<string, string | null>>>>;

/** What becomes a value of the contract: with times as dates, and properties that the contract does not have. */
type Within<T> = T extends string
  ? string extends T
    ? T | Date
    : T
  : T extends readonly (infer Item)[]
    ? readonly Within<Item>[]
    : T extends object
      ? { [Key in keyof T]: Within<T[Key]> | (object extends Pick<T, Key> ? undefined : never) }
      : T;
type Whole<T> = { [Key in keyof Every<T>]: Within<Every<T>[Key]> };

/** Builds a record of the contract: the properties that it names, without undefined values, times as ISO 8601 UTC. */
export const present = <Name extends keyof Schemas>(name: Name, record: Whole<NonNullable<Schemas[Name]>>) =>
  presentAs(name, record) as NonNullable<Schemas[Name]>;

function presentAs(name: string | null, value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (name === null || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => presentAs(name, item));
  const shape = (shapes as Shapes)[name]!;
  return Object.fromEntries(
    Object.entries(value).flatMap(([property, held]: [string, unknown]) =>
      held === undefined || !Object.hasOwn(shape, property) ? [] : [[property, presentAs(shape[property]!, held)]],
    ),
  );
}
