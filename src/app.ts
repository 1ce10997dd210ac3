import { makeAdminRouter, makeOnceSweep } from "./admin/index.ts";
import type { RequestListener, ServerResponse } from "node:http";
import express, { type Express, Router } from "express";
import { makeAnnouncedSweep, makePurgeJob } from "./access/index.ts";
import type { Config } from "./config/index.ts";
import { makeAuditSweepJob, makeEventSweepJob } from "./events/index.ts";
import { makeIdmRouter } from "./idm/index.ts";
import { makeImportSweep } from "./imports/index.ts";
import type { Clock } from "./platform/clock.ts";
import { allowAnyOrigin } from "./platform/cors.ts";
import { isDatabaseUnavailable } from "./platform/db.ts";
import { makeHealthRouter, type HealthCheck } from "./platform/health.ts";
import { loadDocument, makeReading } from "./platform/http/index.ts";
import { makeLastAnswers } from "./platform/last-answers.ts";
import type { Log } from "./platform/log.ts";
import { makeMetricsRouter } from "./platform/metrics-router.ts";
import { makeMetrics, watchPools, type Metrics } from "./platform/metrics.ts";
import { checkMigrated } from "./platform/migrate.ts";
import { listPathWords, makeOperationNames } from "./platform/name-operations.ts";
import { keepPickedLocale, makePageAssets } from "./platform/pages/index.ts";
import { makeRequestWatch } from "./platform/request-log.ts";
import { deriveKeys } from "./platform/seal.ts";
import { makeStatisticsJob } from "./platform/statistics.ts";
import { poolsOf, type DatabaseShares } from "./platform/shares.ts";
import type { WorkerJob } from "./platform/worker.ts";
import { makePortalRouter } from "./portal/index.ts";
import { makePublishRouter } from "./publish/index.ts";
import { makeSchulconnexRouter } from "./schulconnex/index.ts";
import { checkSigningKeys, forgetPerson, makeSignOn, signInPath } from "./sign-on/index.ts";
import { makeWebhooks } from "./webhooks/index.ts";

type Surroundings = {
  clock: Clock;
  log: Log;
  shares: DatabaseShares;
  metrics?: Metrics;
  isStopping?: () => boolean;
};

export type App = {
  handler: RequestListener;
  /** Health and metrics alone, for a port of their own. */
  operationsHandler: RequestListener;
  jobs: WorkerJob[];
  close(): Promise<void>;
};

/** Composes the service: every module gets what it needs here and nowhere else. */
export async function makeApp(
  config: Config,
  { clock, log, shares, metrics = makeMetrics(), isStopping = () => false }: Surroundings,
): Promise<App> {
  watchPools(metrics, poolsOf(shares));
  const count = {
    signIn: (outcome: string) => metrics.signIns.inc({ outcome }),
    token: (grant: string) => metrics.tokensIssued.inc({ grant }),
  };

  const load = (name: string) => loadDocument(name, config.platform);
  const contracts = { idm: await load("idm"), schulconnex: await load("schulconnex"), signOn: await load("sign-on") };
  const checkAnswers = !config.production;
  const signOn = await makeSignOn({ ...config, shares, clock, log, count, document: contracts.signOn, checkAnswers });
  const api = {
    reading: makeReading(shares.reads, config.lists),
    log,
    checkAccessToken: signOn.checkAccessToken,
    cursorKeys: deriveKeys(config.encryptionKeys, "cursor"),
    checkAnswers,
  };
  const idm = makeIdmRouter({ ...api, changes: shares.changes, document: contracts.idm });
  const schulconnex = makeSchulconnexRouter({
    ...api,
    document: contracts.schulconnex,
    document17: await load("schulconnex-1.7"),
  });
  const policy = { allowPrivateAddresses: config.allowPrivateAddresses, allowHttp: !config.production };
  const admin = makeAdminRouter({
    ...{ db: shares.changes, clock, keys: deriveKeys(config.encryptionKeys, "admin"), platform: config.platform, log },
    ...{ allowLoopbackHttp: !config.production, policy, restoreWindowDays: config.restoreWindowDays },
    ...{ reading: api.reading, checkAccessToken: signOn.checkAccessToken, document: await load("admin"), checkAnswers },
    webhookKeys: config.encryptionKeys,
  });
  const webhooks = makeWebhooks({
    db: shares.jobs,
    clock,
    log,
    keys: config.encryptionKeys,
    policy,
    settings: config.webhooks,
    count: (outcome) => metrics.webhookAttempts.inc({ outcome }),
  });
  const portal = makePortalRouter({
    ...signOn,
    issuerUrl: config.issuerUrl,
    signInPath,
    signOutPath: "/oauth2/sessions/logout",
    db: shares.signOn,
  });
  const health = makeHealthRouter({ checks: listHealthChecks(shares.checks), isStopping });
  const metricsRouter = makeMetricsRouter({ metrics, token: config.metricsToken });
  const last = makeLastAnswers({ log, isUnavailable: isDatabaseUnavailable });

  const app = makeExpress(config);
  // Before all else, as nothing else is called so often.
  app.use(new URL(config.baseUrl).pathname, Router().use("/idm", allowAnyOrigin), idm, schulconnex, admin);
  app.use(health);
  if (config.metricsPort === undefined) app.use(metricsRouter);
  app.use(keepPickedLocale, makePageAssets(), makePublishRouter(config), signOn.router);
  app.use(portal, last.router, last.onError);

  const operations = makeExpress(config).use(health, metricsRouter, last.router, last.onError);

  const pathWords = listPathWords(Object.values(contracts), [
    ...places,
    ...paths,
    new URL(config.baseUrl).pathname,
    new URL(config.issuerUrl).pathname,
  ]);
  const watch = makeRequestWatch({
    clock,
    log,
    metrics,
    nameOperation: makeOperationNames(contracts.signOn, places),
    pathWords,
  });
  const protect = makeProtect(config);
  return {
    handler(req, res) {
      protect(res);
      watch(req, res);
      if (!signOn.answerBusy(req, res)) app(req, res);
    },
    operationsHandler(req, res) {
      protect(res);
      operations(req, res);
    },
    jobs: [
      ...signOn.jobs,
      makePurgeJob({ db: shares.changes, clock, forget: forgetPerson }),
      makeAnnouncedSweep({ db: shares.jobs, clock }),
      makeEventSweepJob({ db: shares.jobs, clock, feedDays: config.changeFeedDays }),
      makeAuditSweepJob({ db: shares.jobs, clock, auditDays: config.auditDays }),
      makeStatisticsJob(shares.jobs),
      makeImportSweep({ db: shares.jobs, clock }),
      makeOnceSweep({ db: shares.jobs, clock }),
      ...webhooks.jobs,
    ],
    async close() {
      await webhooks.close();
      await signOn.close();
    },
  };
}

/** Where requests without an operation of a contract go, as log and metrics call it. */
const places = ["interaction", "sign-in", "docs", "openapi", "assets", "health", "metrics"];

/** Our addresses that stand in no contract, for the log. */
const paths = [
  ...["health/live", "health/ready"],
  ...["login", "consent", "school", "switch", "cancel"].map((step) => `interaction/${step}`),
  ...["idm", "schulconnex", "schulconnex-1.7", "webhooks", "sign-on"].flatMap((name) => [
    `docs/${name}`,
    `openapi/${name}.yaml`,
    `openapi/${name}.json`,
  ]),
];

function makeExpress(config: Config): Express {
  const app = express();
  app.disable("x-powered-by").disable("etag").set("trust proxy", config.trustedProxies);
  return app;
}

/** The headers of every answer. */
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
