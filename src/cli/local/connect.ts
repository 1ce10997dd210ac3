import createClient, { type Client } from "openapi-fetch";
import type { paths } from "../../../generated/openapi/admin.ts";
import type { AdminDeps } from "../../admin/index.ts";
import type { RosterRuns } from "../../connections/index.ts";
import type { ImportRequests } from "../../imports/index.ts";
import type { OpenDb } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import type { OutboundPolicy } from "../../platform/outbound/guarded-request.ts";
import type { Upstream } from "../../upstream/index.ts";
import type { Machine } from "../command.ts";
import { readRefusal } from "../remote/connect.ts";

/** Not called: requests stay in this process. */
const baseUrl = "http://local.invalid";

/** Makes a client for the admin API in this process; the database is opened for the first call. */
export function connectLocal(machine: Machine): { api: Client<paths>; close(): Promise<void> } {
  let opened: ReturnType<typeof openAdmin> | undefined;
  const api = createClient<paths>({
    baseUrl,
    fetch: async (request) => {
      opened ??= machine.withDatabase(({ db }) => openAdmin(machine, db));
      const response = await (await opened).send(request);
      if (!response.ok) throw addPolicyHint(await readRefusal(response));
      return response;
    },
  });
  return { api, close: async () => (await opened?.catch(() => undefined))?.close() };
}

/** Which addresses of apps the service may call, by its configuration. Each connection of the service checks again. */
const policyOf = ({ config }: Pick<Machine, "config">): OutboundPolicy => ({
  allowPrivateAddresses: config.allowPrivateAddresses,
  allowHttp: !config.production,
});

const hint =
  "To use an address of your own machine or network in development, set WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true for " +
  "this command and for the service.";

/** Adds to the refusal of an address which variable allows private ones. */
const addPolicyHint = (refusal: AppError): AppError =>
  refusal.message.includes("not public")
    ? new AppError("invalid", refusal.code, `${refusal.message.replace(/\.?$/, ".")} ${hint}`)
    : refusal;

const inServiceOnly = (): never => {
  throw new Error("Only a running service does this.");
};

async function openAdmin(machine: Machine, db: OpenDb) {
  const { makeProgramFetch } = await import("../../admin/index.ts");
  const { loadDocument, makeReading } = await import("../../platform/http/index.ts");
  const { silentLog } = await import("../../platform/telemetry/log.ts");
  const { deriveKeys } = await import("../../platform/crypto/seal.ts");
  const { config, clock } = machine;
  const imports = makeLocalImports(machine, db);
  const upstream = makeLocalUpstream(machine, db);
  const { makeSources } = await import("../../connections/index.ts");
  const sources = makeSources(config);
  const send = makeProgramFetch(
    {
      ...config,
      db,
      clock,
      imports,
      rosterRuns: { sources, start: (...call) => startLocally({ machine, db, imports, sources }, call) },
      log: silentLog,
      document: await loadDocument("admin", config.platform),
      reading: makeReading({ pool: db.pool, canceller: db.pool, isReplica: false }, config.lists),
      keys: deriveKeys(config.encryptionKeys, "admin"),
      webhookKeys: config.encryptionKeys,
      ...config.lifetimes,
      allowLoopbackHttp: !config.production,
      policy: policyOf(machine),
      checkAnswers: false,
      healthChecks: [],
      jobs: [],
      checkAccessToken: inServiceOnly,
      needsSecondFactor: inServiceOnly,
      makeCard: inServiceOnly,
      makeClassCode: inServiceOnly,
      upstream,
      fetchAsApp: inServiceOnly,
      listeners: { wait: inServiceOnly, rules: { retrySeconds: [], random: inServiceOnly, count: inServiceOnly } },
    },
    machine.origin().actorId,
  );
  const close = async () => void (await Promise.all([imports.close(), upstream.close()]));
  return { send, close };
}

/** Reads providers in this process; its modules are loaded for the first one. */
function makeLocalUpstream(machine: Machine, db: OpenDb): AdminDeps["upstream"] & { close(): Promise<void> } {
  let opened: Promise<Upstream> | undefined;
  async function open(): Promise<Upstream> {
    const { makeUpstream } = await import("../../upstream/index.ts");
    const { silentLog: log } = await import("../../platform/telemetry/log.ts");
    const { config, clock } = machine;
    return makeUpstream({ ...config, db, jobsDb: db, clock, log });
  }
  return {
    begin: inServiceOnly,
    checkConnection: async (id) => (await (opened ??= open())).checkConnection(id),
    close: async () => (await opened)?.close(),
  };
}

type Locally = { machine: Machine; db: OpenDb; imports: ImportRequests; sources: RosterRuns["sources"] };

/** Runs a roster connection in this process, which waits for its end. */
async function startLocally({ machine, ...deps }: Locally, call: Parameters<RosterRuns["start"]>) {
  const { makeRosterRuns } = await import("../../connections/index.ts");
  const { silentLog: log } = await import("../../platform/telemetry/log.ts");
  const { config, clock } = machine;
  const [keys, fetchSeconds] = [config.encryptionKeys, config.rosterFetchSeconds];
  const policy = policyOf(machine);
  const runs = makeRosterRuns({ ...deps, log, clock, keys, policy, fetchSeconds, sendsMail: false, waitMs: longRunMs });
  return runs.start(...call).finally(() => runs.close());
}

const longRunMs = 3_600_000;

/** Reads and applies rosters in this process; their modules are loaded for the first one. */
function makeLocalImports({ config, clock }: Machine, db: OpenDb): ImportRequests {
  const { importHoldShare: holdShare, restoreWindowDays, importsAtOnce: atOnce } = config;
  let opened: Promise<ImportRequests> | undefined;
  const open = () => (opened ??= load());
  async function load(): Promise<ImportRequests> {
    const { makeImportRequests } = await import("../../imports/index.ts");
    const { giveUserNamesAtSchool: giveUserNames } = await import("../../accounts/index.ts");
    const { silentLog } = await import("../../platform/telemetry/log.ts");
    const { leftMonths } = config.retentionRules.defaults;
    const rules = { holdShare, restoreWindowDays, leftMonths, giveUserNames };
    return makeImportRequests({ db, control: db, atOnce, clock, log: silentLog, rules });
  }
  return {
    connections: { db, canceller: db.pool },
    holdShare,
    read: async (...call) => (await open()).read(...call),
    map: async (...call) => (await open()).map(...call),
    apply: async (...call) => (await open()).apply(...call),
    undo: async (...call) => (await open()).undo(...call),
    cancel: async (...call) => (await open()).cancel(...call),
    forget: async (id) => (await open()).forget(id),
    count: inServiceOnly,
    close: async () => (await opened)?.close(),
  };
}
