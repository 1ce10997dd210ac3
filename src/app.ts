import { makeAdmin, makeIdempotencySweep } from "./admin/index.ts";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import express, { type Express, Router } from "express";
import {
  makeAnnouncedSweep,
  makeDisclosureSweep,
  makeErasureSweep,
  makeSeatCount,
  makeIdMoveJob,
  makeLastCalls,
  makePurgeJob,
} from "./access/index.ts";
import type { AccessToken, LastCalls, ReadKind } from "./access/index.ts";
import type { Config } from "./config/index.ts";
import {
  describeRosterDrop,
  makeRosterMail,
  makeRosterRuns,
  makeSources,
  openRosterDrop,
} from "./connections/index.ts";
import { makeDataRequestSweep, makeHandoverSweep, makeMergerSweep } from "./directory/index.ts";
import { makeAuditSweepJob, makeEventSweepJob } from "./events/index.ts";
import { makeIdmRouter } from "./idm/index.ts";
import { makeImportRequests, makeImportSweep, makePersonImportSweep } from "./imports/index.ts";
import type { Clock } from "./platform/clock.ts";
import { makeReadAddress } from "./platform/server/client-address.ts";
import { allowAnyOrigin } from "./platform/server/cors.ts";
import { makeHealthRouter, makeReadiness, type HealthCheck, makeMetricsRouter } from "./platform/telemetry/health.ts";
import {
  listOperations,
  loadDocument,
  makeCookiePrefixes,
  fetchInside,
  makeInnerCalls,
  makeProblemType,
  makeReading,
  withoutGates,
  type OpenApiDocument,
} from "./platform/http/index.ts";
import { makeLastAnswers } from "./platform/server/last-answers.ts";
import type { Log } from "./platform/telemetry/log.ts";
import { makeMetrics, watchImports, watchPools, watchReplica, type Metrics } from "./platform/telemetry/metrics.ts";
import { watchSurroundings } from "./platform/telemetry/watch-surroundings.ts";
import { makeUploadSweep } from "./platform/temporary-files.ts";
import { checkMigrated } from "./platform/migrations/migrate.ts";
import { listPathWords, listRoutes, makeOperationNames } from "./platform/server/name-operations.ts";
import { keepPickedLocale, makePageAssets, useBrand } from "./platform/pages/index.ts";
import { makeRequestWatch, type Answered } from "./platform/telemetry/request-log.ts";
import { deriveKeys } from "./platform/crypto/seal.ts";
import { makeStatisticsJob } from "./platform/database/statistics.ts";
import { poolsOf, type DatabaseShares } from "./platform/database/shares.ts";
import { traceRequest } from "./platform/telemetry/tracing/index.ts";
import type { WorkerJob } from "./platform/jobs/worker.ts";
import { makeAppLogos, makePortal } from "./portal/index.ts";
import { makeAppGuides, makePublishRouter, makeWellKnown, publishedPaths } from "./publish/index.ts";
import { makeOneRosterRouter } from "./oneroster/index.ts";
import { makeRetentionJob, makeSchoolAuditSweep } from "./retention/index.ts";
import { makeSandboxSweep } from "./sandbox/index.ts";
import { makeSchulconnexRouter } from "./schulconnex/index.ts";
import { forgetPerson, giveUserNamesAtSchool, makeCredentialJob } from "./accounts/index.ts";
import { checkSigningKeys, cookiesOfOnePath, makeSignOn, signInPath, type Count } from "./sign-on/index.ts";
import { findBackupAge, makeTraffic, type Traffic } from "./traffic/index.ts";
import { findRoles } from "./staff/index.ts";
import { makeUpstream } from "./upstream/index.ts";
import { makeWebhooks } from "./webhooks/index.ts";

type Surroundings = {
  clock: Clock;
  log: Log;
  shares: DatabaseShares;
  metrics?: Metrics;
  /** The metrics of all processes, where there are several. */
  readMetrics?: (() => Promise<string>) | undefined;
  isStopping?: () => boolean;
  /** How long a call waits for an import before it goes on in the background. */
  importWaitMs?: number;
};

export type App = {
  handler: RequestListener;
  /** Health and metrics only, for a port of their own. */
  operationsHandler: RequestListener;
  jobs: WorkerJob[];
  noteJob: Traffic["noteJob"];
  /** Ends long-polling requests, so that a stop does not wait for them. */
  endWaits(): void;
  /** Takes rosters over SFTP; null without a port for it. */
  openRosterDrop(): Promise<{ port: number; fingerprint: string; stop(): Promise<void> } | null>;
  close(): Promise<void>;
};

export async function makeApp(
  config: Config,
  { clock, log, shares, metrics = makeMetrics(), readMetrics, isStopping = () => false, importWaitMs }: Surroundings,
): Promise<App> {
  watchPools(metrics, poolsOf(shares));
  if (shares.reads.replica !== undefined) watchReplica(metrics, shares.reads.replica);
  useBrand(config.brand);
  const traffic = makeTraffic({ db: shares.jobs, clock });
  const lastCalls = makeLastCalls({ db: shares.jobs, clock });
  const count = makeCount(metrics, traffic);

  const load = (name: string) => loadDocument(name, config.platform);
  const contracts = {
    idm: await load("idm"),
    schulconnex: await load("schulconnex"),
    oneRoster: await load("oneroster"),
    oneRoster11: await load("oneroster-1.1"),
    signOn: await load("sign-on"),
  };
  const checkAnswers = !config.production;
  const upstream = makeUpstream({ ...config, db: shares.signOn, jobsDb: shares.jobs, clock, log });
  const signOn = await makeSignOn({
    ...config,
    shares,
    clock,
    log,
    count,
    document: contracts.signOn,
    checkAnswers,
    upstream,
  });
  const reading = makeReading(shares.reads, config.lists);
  const views = makeInnerCalls<AccessToken & { requestId: string }>();
  const api = {
    reading,
    log,
    checkToken: signOn.checkAccessToken,
    cursorKeys: deriveKeys(config.encryptionKeys, "cursor"),
    checkAnswers,
    findInnerCaller: async (req: IncomingMessage) => views.findCaller(req),
    innerReading: withoutGates(reading),
  };
  const idm = makeIdmRouter({
    ...config,
    ...api,
    changes: shares.changes,
    clock,
    makePseudonym: signOn.makePseudonym,
    document: contracts.idm,
  });
  const schulconnex = makeSchulconnexRouter({
    ...api,
    document: contracts.schulconnex,
    respelled: [await load("schulconnex-1.7"), await load("schulconnex-1.8")],
  });
  const oneRoster = Router().use(
    makeOneRosterRouter({ ...api, ...config, clock, version: "v1p2", document: contracts.oneRoster }),
    makeOneRosterRouter({ ...api, ...config, clock, version: "v1p1", document: contracts.oneRoster11 }),
  );
  const callAsApp = views.serve(Router().use(idm, schulconnex, oneRoster));
  const policy = { allowPrivateAddresses: config.allowPrivateAddresses, allowHttp: !config.production };
  const importRules = {
    holdShare: config.importHoldShare,
    restoreWindowDays: config.restoreWindowDays,
    leftMonths: config.retentionRules.defaults.leftMonths,
    giveUserNames: giveUserNamesAtSchool,
  };
  const imports = makeImportRequests({
    db: shares.imports,
    control: shares.jobs,
    clock,
    log,
    rules: importRules,
    atOnce: config.importsAtOnce,
    waitMs: importWaitMs,
  });
  watchImports(metrics, imports.count);
  const mail =
    config.mailUrl === undefined
      ? null
      : { url: config.mailUrl, from: config.mailFrom ?? `schultor@${new URL(config.issuerUrl).hostname}` };
  const rosterRuns = makeRosterRuns({
    db: shares.jobs,
    imports,
    clock,
    log,
    keys: config.encryptionKeys,
    policy,
    sources: makeSources(config, describeRosterDrop(config, signOn.sftpHostSecret)),
    fetchSeconds: config.rosterFetchSeconds,
    sendsMail: mail !== null,
    waitMs: importWaitMs,
  });
  const healthChecks = listHealthChecks(shares.checks);
  watchSurroundings(metrics, {
    clock,
    database: healthChecks.find(({ name }) => name === "database")!,
    findBackupAge: () => findBackupAge(shares.checks.pool),
    databaseFolder: config.databaseUrl === undefined ? join(config.dataDir, "postgres") : undefined,
    issuerUrl: config.issuerUrl,
  });
  const countDelivery = (outcome: "delivered" | "failed", clientId: string): void => {
    metrics.webhookAttempts.inc({ outcome });
    traffic.count("deliveries", outcome === "delivered" ? "done" : "failed", { clientId });
  };
  const webhooks = makeWebhooks({
    db: shares.jobs,
    clock,
    log,
    keys: config.encryptionKeys,
    policy,
    settings: config.webhooks,
    count: countDelivery,
  });
  const adminKeys = deriveKeys(config.encryptionKeys, "admin");
  const jobs: WorkerJob[] = [
    ...signOn.jobs,
    ...upstream.jobs,
    makePurgeJob({ db: shares.changes, clock, forget: forgetPerson }),
    makeSandboxSweep({ db: shares.changes, clock }),
    makeAnnouncedSweep({ db: shares.jobs, clock }),
    makeErasureSweep({ db: shares.jobs, clock, days: config.retention.erasureDays }),
    makeDisclosureSweep({ db: shares.jobs, clock, recordDays: config.retention.recordDays }),
    makeSeatCount({ db: shares.jobs, clock, recordDays: config.retention.recordDays }),
    makeIdMoveJob({ db: shares.jobs, clock, keptDays: config.idChangesDays }),
    makeEventSweepJob({ db: shares.jobs, clock, feedDays: config.changeFeedDays }),
    makeAuditSweepJob({ db: shares.jobs, clock, auditDays: config.auditDays }),
    makeRetentionJob({ db: shares.changes, clock, rules: config.retentionRules }),
    makeSchoolAuditSweep({ db: shares.jobs, clock, rules: config.retentionRules }),
    makeStatisticsJob(shares.jobs),
    makePersonImportSweep({ db: shares.jobs, clock, auditDays: config.auditDays }),
    makeImportSweep({ db: shares.jobs, clock }),
    ...rosterRuns.jobs,
    ...(mail === null ? [] : [makeRosterMail({ ...config, db: shares.jobs, clock, log, mail })]),
    makeHandoverSweep({ db: shares.jobs, clock }),
    makeMergerSweep({ db: shares.jobs, clock }),
    makeDataRequestSweep({ db: shares.jobs, clock, recordDays: config.retention.recordDays }),
    makeIdempotencySweep({ db: shares.jobs, clock }),
    makeCredentialJob({ db: shares.jobs, clock, keys: adminKeys, makeCard: signOn.makeCard }),
    makeUploadSweep(),
    ...webhooks.jobs,
    ...traffic.jobs,
    lastCalls.job,
  ];
  const admin = await makeAdmin({
    ...config,
    db: shares.changes,
    clock,
    keys: adminKeys,
    log,
    allowLoopbackHttp: !config.production,
    policy,
    reading,
    checkAccessToken: signOn.checkAccessToken,
    needsSecondFactor: signOn.needsSecondFactor,
    document: await load("admin"),
    checkAnswers,
    webhookKeys: config.encryptionKeys,
    ...config.lifetimes,
    imports,
    rosterRuns,
    makeCard: signOn.makeCard,
    makeClassCode: signOn.makeClassCode,
    upstream,
    fetchAsApp: (app, requestId) =>
      fetchInside((request) => callAsApp({ ...app, personId: null, hasSecondFactor: false, requestId }, request)),
    healthChecks,
    jobs,
    listeners: {
      wait: webhooks.waits.wait,
      rules: { retrySeconds: config.webhooks.retrySeconds, random: Math.random, count: countDelivery },
    },
  });
  const portal = makePortal({
    home: {
      ...signOn,
      issuerUrl: config.issuerUrl,
      signInPath,
      signOutPath: "/oauth2/sessions/logout",
      db: shares.signOn,
      findStaffRoles: async (personId) =>
        (await findRoles(shares.signOn, { personId }, clock())).map(({ role }) => role),
    },
    frame: {
      clock,
      keys: deriveKeys(config.encryptionKeys, "portal"),
      signInAddress: config.issuerUrl.replace(/\/$/, "") + signInPath,
      findVisitor: signOn.findSignedIn,
      noteSignedOut: signOn.noteSignedOut,
      signOut: signOn.signOut,
      clientFor: admin.clientFor,
    },
    setUp: { setUp: admin.setUp, nameBrowser: signOn.nameBrowser },
    guides: makeAppGuides(config),
  });
  const health = makeHealthRouter({ checks: healthChecks, isStopping });
  const metricsRouter = makeMetricsRouter({
    read: readMetrics ?? (() => metrics.registry.metrics()),
    token: config.metricsToken,
  });
  const last = makeLastAnswers({ log, problemType: makeProblemType(config.issuerUrl) });

  const app = makeExpress(config);
  // The APIs come first because they are called most.
  app.use(
    new URL(config.baseUrl).pathname,
    Router().use(["/idm", "/v1"], allowAnyOrigin),
    idm,
    schulconnex,
    oneRoster,
    admin.router,
  );
  app.use(health);
  if (config.metricsPort === undefined) app.use(metricsRouter);
  const publish = makePublishRouter({ ...config, isReady: makeReadiness({ checks: healthChecks, isStopping, clock }) });
  const wellKnown = makeWellKnown({ ...config, clock, passwordPage: "/sign-in/password" });
  const pages = [wellKnown, makeAppLogos(shares.signOn), publish, signOn.router, portal];
  app.use(keepPickedLocale, makePageAssets(), ...pages);
  app.use(last.router, last.onError);

  const operations = makeExpress(config).use(health, metricsRouter, last.router, last.onError);

  const routes = [...[health, metricsRouter, ...pages].flatMap(listRoutes), ...publishedPaths, "/assets"];
  const pathWords = listPathWords(Object.values(contracts), [
    ...routes,
    new URL(config.baseUrl).pathname,
    new URL(config.issuerUrl).pathname,
  ]);
  const nameOperation = makeOperationNames(contracts.signOn, routes);
  const watch = makeRequestWatch({
    clock,
    log,
    metrics,
    nameOperation,
    pathWords,
    onAnswered: makeNoteAnswer(
      { traffic, lastCalls },
      { apis: [contracts.idm, contracts.schulconnex, contracts.oneRoster], signOn: contracts.signOn },
    ),
  });
  const protect = makeProtect(config);
  const prefixCookies = makeCookiePrefixes(config, cookiesOfOnePath);
  return {
    handler(req, res) {
      protect(res);
      prefixCookies(req, res);
      watch(req, res);
      traceRequest({ req, res, nameOperation }, () => {
        if (!signOn.answerBusy(req, res)) app(req, res);
      });
    },
    operationsHandler(req, res) {
      protect(res);
      operations(req, res);
    },
    jobs,
    noteJob: traffic.noteJob,
    endWaits: webhooks.waits.close,
    async openRosterDrop() {
      const { host, sftpPort: port } = config;
      if (port === undefined) return null;
      const place = { host, port, secret: signOn.sftpHostSecret, waitMs: importWaitMs };
      return openRosterDrop({ db: shares.jobs, runs: rosterRuns, clock, log }, place);
    },
    async close() {
      await traffic.flush().catch((err: unknown) => log.warn({ err }, "the last figures were lost"));
      await lastCalls.flush().catch((err: unknown) => log.warn({ err }, "the last calls of apps were lost"));
      await rosterRuns.close();
      await imports.close();
      await webhooks.close();
      await upstream.close();
      await signOn.close();
    },
  };
}

const makeCount = (metrics: Metrics, traffic: Traffic): Count => ({
  signIn(outcome) {
    metrics.signIns.inc({ outcome });
    if (outcome !== "ok") traffic.count("refusals", `sign_in_${outcome}`);
  },
  token(grant, clientId) {
    metrics.tokensIssued.inc({ grant });
    traffic.count("tokens", grant, { clientId });
  },
  signedIn(clientId, schoolId, { password }) {
    traffic.count("signIns", "done", { clientId, schoolId });
    if (password) traffic.count("passwordSignIns", "done", { clientId, schoolId });
  },
  refused: (error, clientId) => traffic.count("refusals", error, { clientId }),
  step: traffic.noteStep,
});

const outcomeOf = (status: number): string => {
  if (status === 304) return "not_modified";
  if (status >= 500) return "failed";
  return status >= 400 ? "refused" : "done";
};

type Read = { kind: ReadKind; id: string };

const allSchools: Read = { kind: "all", id: "" };
const pathReads = {
  schools: "school",
  users: "appRecord",
  people: "appRecord",
  groups: "group",
  // The lists of OneRoster.
  orgs: "school",
  students: "appRecord",
  teachers: "appRecord",
  classes: "group",
} as const;
const namedInPath = new RegExp(`/(${Object.keys(pathReads).join("|")})/([^/]+)`);
const wholeRoster = /\/ims\/oneroster\/.*\/(orgs|users|students|teachers|classes|courses|enrollments)$/;
const filterReads = {
  "organisation.id": "school",
  pid: "appRecord",
  "personenkontext.id": "appRecord",
  "gruppe.id": "group",
} as const;

/** Whose data a call of an app reads; null if none of a school. */
function readOf(operation: string, url: string): Read | null {
  if (operation === "listSchools") return allSchools;
  const [path = "", query = ""] = url.split("?");
  if (operation !== "listPersonenInfo") {
    const [, named, id] = namedInPath.exec(path) ?? [];
    if (id === undefined) return wholeRoster.test(path) ? allSchools : null;
    return { kind: pathReads[named as keyof typeof pathReads], id };
  }
  const filters = new URLSearchParams(query);
  const named = Object.entries(filterReads).find(([name]) => filters.has(name));
  return named === undefined ? allSchools : { kind: named[1], id: filters.get(named[0])! };
}

const longestMessage = 300;

/** Counts API calls of apps and records whose data was read. */
function makeNoteAnswer(
  { traffic, lastCalls }: { traffic: Traffic; lastCalls: LastCalls },
  { apis, signOn }: { apis: readonly OpenApiDocument[]; signOn: OpenApiDocument },
) {
  const namesOf = (documents: readonly OpenApiDocument[]) =>
    new Set(documents.flatMap((document) => listOperations(document).map(({ operation }) => operation.operationId)));
  const operations = namesOf(apis);
  const readers = namesOf([...apis, signOn]);
  return ({ operation = "", clientId, readPersonId, url, status, code, ...answered }: Answered): void => {
    if (clientId !== undefined && readPersonId !== undefined && status < 400 && readers.has(operation))
      lastCalls.note({ clientId, kind: "person", id: readPersonId });
    if (!operations.has(operation)) return;
    const read = status < 400 ? readOf(operation, url) : null;
    if (clientId !== undefined && read !== null) lastCalls.note({ clientId, ...read });
    if (clientId !== undefined)
      traffic.noteRequest({
        clientId,
        requestId: answered.requestId,
        operationId: operation,
        path: answered.maskedUrl,
        status,
        code: status < 400 ? null : (code ?? null),
        message: status < 400 ? null : (answered.message?.slice(0, longestMessage) ?? null),
        durationMs: Math.round(answered.durationMs),
      });
    traffic.count("apiCalls", outcomeOf(status), { clientId });
    if (status >= 400 && status < 500) traffic.count("refusals", code ?? String(status), { clientId });
  };
}

function makeExpress(config: Config): Express {
  const app = express();
  app.disable("x-powered-by").disable("etag").set("trust proxy", config.trustedProxies);
  const readAddress = makeReadAddress(config.trustedProxies);
  // express takes a forwarded port for a part of the address.
  Object.defineProperty(app.request, "ip", {
    get(this: IncomingMessage) {
      return readAddress(this);
    },
  });
  return app;
}

function makeProtect({ issuerUrl }: Config): (res: ServerResponse) => void {
  const isSecure = issuerUrl.startsWith("https:");
  return (res) => {
    res.setHeader("X-Content-Type-Options", "nosniff");
    if (isSecure) res.setHeader("Strict-Transport-Security", "max-age=31536000");
  };
}

function listHealthChecks({ pool }: DatabaseShares["checks"]): HealthCheck[] {
  return [
    { name: "database", missing: "the database does not answer", check: () => pool.query("SELECT 1") },
    { name: "migrations", missing: "the database is not migrated to this version", check: () => checkMigrated(pool) },
    { name: "signing_keys", missing: "there is no signing key", check: () => checkSigningKeys(pool) },
  ];
}
