import type { RequestListener } from "node:http";
import express, { type Express } from "express";
import type { Config } from "./config.ts";
import type { Clock } from "./platform/clock.ts";
import { makeIdmRouter } from "./idm/index.ts";
import { allowAnyOrigin } from "./platform/cors.ts";
import { isDatabaseUnavailable, type Db } from "./platform/db.ts";
import { makeHealthRouter, type HealthCheck } from "./platform/health.ts";
import { loadDocument } from "./platform/http/index.ts";
import type { Log } from "./platform/log.ts";
import { makeMetricsRouter } from "./platform/metrics-router.ts";
import { makeMetrics, watchPool, type Metrics } from "./platform/metrics.ts";
import { checkMigrated } from "./platform/migrate.ts";
import { makePageAssets } from "./platform/pages/index.ts";
import { logRequests } from "./platform/request-log.ts";
import type { WorkerJob } from "./platform/worker.ts";
import { makeLastAnswers } from "./portal/index.ts";
import { makeCheckAccessToken } from "./sign-on/storage/check-access-token.ts";

type Surroundings = {
  clock: Clock;
  log: Log;
  db: Db;
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

/** Composes the service: every room gets what it needs here and nowhere else. */
export async function makeApp(config: Config, { clock, log, db, metrics = makeMetrics(), isStopping = () => false }: Surroundings): Promise<App> {
  watchPool(metrics, "main", db.pool);
  if (db.readPool !== db.pool) watchPool(metrics, "replica", db.readPool);

  const health = makeHealthRouter({ checks: listHealthChecks(db), isStopping });
  const metricsRouter = makeMetricsRouter({ metrics, token: config.metricsToken });
  const basePath = new URL(config.baseUrl).pathname.replace(/\/$/, "");
  const checkAccessToken = makeCheckAccessToken({ db, clock, platform: config.platform });
  const reading = { db, checkAccessToken, log, checkAnswers: !config.production };
  const idm = makeIdmRouter({ ...reading, document: await loadDocument("idm", config.platform) });
  const last = makeLastAnswers({ log, isUnavailable: isDatabaseUnavailable });

  const app = makeExpress(config);
  app.use(logRequests({ clock, log, metrics }));
  app.use(health);
  if (config.metricsPort === undefined) app.use(metricsRouter);
  app.use(makePageAssets());
  app.use(`${basePath}/idm`, allowAnyOrigin);
  app.use(basePath || "/", idm);
  app.use(last.router);
  app.use(last.onError);

  const operations = makeExpress(config).use(health, metricsRouter, last.router, last.onError);
  return { handler: app, operationsHandler: operations, jobs: [], close: async () => {} };
}

function makeExpress(config: Config): Express {
  const app = express();
  app.disable("x-powered-by").disable("etag").set("trust proxy", config.trustedProxies);
  app.use((_req, res, next) => {
    res.set("X-Content-Type-Options", "nosniff");
    if (config.issuerUrl.startsWith("https:")) res.set("Strict-Transport-Security", "max-age=31536000");
    next();
  });
  return app;
}

function listHealthChecks(db: Db): HealthCheck[] {
  return [
    { name: "database", missing: "the database does not answer", check: () => db.pool.query("SELECT 1") },
    { name: "migrations", missing: "the database is not migrated to this version", check: () => checkMigrated(db.pool) },
  ];
}
