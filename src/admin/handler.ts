import type { AccessToken } from "../access/index.ts";
import type { Origin } from "../events/index.ts";
import type { ImportRequests } from "../imports/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { PrismaDb, Transaction } from "../platform/database/db.ts";
import type { HealthCheck } from "../platform/telemetry/health.ts";
import type { OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import type { ChangeAnswer, ChangeRequest, InnerFetch } from "../platform/http/index.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { SharedReads } from "../platform/database/shared-reads.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { MakeCard } from "../accounts/index.ts";
import type { RoleHolder, StaffRole } from "../staff/index.ts";
import type { AttemptRules, ListenerWaits } from "../webhooks/index.ts";
import type { operations } from "../../generated/openapi/admin.ts";
import type { PersonReach } from "./whose-person.ts";

export type AdminDeps = {
  db: PrismaDb;
  clock: Clock;
  keys: EncryptionKeys;
  /** Those that the secrets of webhook endpoints and the signing keys are kept under. */
  webhookKeys: EncryptionKeys;
  platform: string;
  /** Whether addresses of apps may be http on this machine: in development. */
  allowLoopbackHttp: boolean;
  /** Which addresses of apps the service may call. */
  policy: OutboundPolicy;
  restoreWindowDays: number;
  supportRoleDays: number;
  /** Works on imports. */
  imports: ImportRequests;
  healthChecks: readonly HealthCheck[];
  /** The jobs of the service, in whichever process. */
  jobs: readonly Pick<WorkerJob, "name" | "everySeconds">[];
  /** Where requests wait for what is due at a listening endpoint, and when failed deliveries are due again. */
  listeners: Pick<ListenerWaits, "wait"> & { rules: Omit<AttemptRules, "now"> };
  makeCard: MakeCard;
  issuerUrl: string;
  /** Asks the IDM API and Schulconnex in this process, as an app does with a token of its own. */
  fetchAsApp: (app: Pick<AccessToken, "clientId" | "scopes" | "readsNames">, requestId: string) => InnerFetch;
};

/** Who calls, with the roles that hold at this moment. */
export type AdminCaller = AccessToken & {
  /** As the audit log names them. */
  actorId: string;
  /** Who holds the roles; null for a program on the machine of the service, which acts as an operator. */
  holder: RoleHolder | null;
  roles: readonly StaffRole[];
  /** What was read before for the same page; null for all who call with a token, and for changes. */
  reads: SharedReads | null;
};

export type Operations = operations;
export type OperationId = keyof operations;

/** Names an app that works for the staff as an actor. */
export const appActor = (clientId: string): string => `app:${clientId}`;

/** Keeps the answer of a creation in its transaction, so that the same request sent again gets it and does nothing. */
export type Keep = (
  tx: Transaction,
  answer: { status: number; body?: unknown; headers?: Record<string, string> },
) => Promise<void>;

export type AdminRequest<Id extends OperationId> = ChangeRequest<operations[Id], AdminCaller> & {
  /** What those roles of the caller are for that allow the operation. */
  reach: PersonReach;
  /** The same at this moment, for a request that waited. Errors: forbidden role_forbids. */
  reachNow(): Promise<PersonReach>;
  origin: Origin & { requestId: string; actorId: string };
  keep: Keep;
};

export type AdminHandler<Id extends OperationId> = (
  deps: AdminDeps,
  request: AdminRequest<Id>,
) => Promise<ChangeAnswer<operations[Id]["responses"]>>;
