import type { App } from "./app.ts";
import { settlePort, type Config } from "./config/index.ts";
import { openDatabaseClock, readDatabaseClock, setProcessTime } from "./platform/database/database-clock.ts";
import type { PrismaDb } from "./platform/database/db.ts";
import type { Log } from "./platform/telemetry/log.ts";
import { watchProcess, type Metrics } from "./platform/telemetry/metrics.ts";
import { openDatabaseServer } from "./platform/postgres/index.ts";
import { withProgress } from "./platform/jobs/progress.ts";
import { openServer, type Server } from "./platform/server/server.ts";
import { openShares, type DatabaseShares } from "./platform/database/shares.ts";
import { startTracing } from "./platform/telemetry/tracing/index.ts";
import { startWorker, type Worker } from "./platform/jobs/worker.ts";

export type Surroundings = {
  log: Log;
  say(line: string): void;
  /** Called when the service cannot continue; the callee stops it. */
  onLost(what: string): void;
};

/** What was started, to be stopped in reverse order. */
export type Ends = ReturnType<typeof makeEnds>;

export function makeEnds(log: Log) {
  const ends: { what: string; end(): Promise<unknown> }[] = [];
  return {
    add: (what: string, end: () => Promise<unknown>) => void ends.push({ what, end }),
    async run() {
      for (const { what, end } of ends.splice(0).reverse()) {
        await end().catch((err: unknown) => log.error({ err, part: what }, "could not be stopped cleanly"));
      }
    },
  };
}

/** Stops what was started if a later part fails. */
export async function startOrEnd<T>(log: Log, start: (ends: Ends) => Promise<T>): Promise<T> {
  const ends = makeEnds(log);
  try {
    return await start(ends);
  } catch (error) {
    await ends.run();
    throw error;
  }
}

type Ports = { server: Server; operations: Server | null };

export async function openPorts({ host, port, metricsPort }: Config, ends: Ends): Promise<Ports> {
  const server = await openServer({ host, port });
  ends.add("port", () => server.stop(0));
  if (metricsPort === undefined) return { server, operations: null };
  const operations = await openServer({ host, port: metricsPort });
  ends.add("health and metrics port", () => operations.stop(0));
  return { server, operations };
}

export const settlePorts = (config: Config, { server, operations }: Ports): Config => ({
  ...settlePort(config, server.port),
  metricsPort: operations?.port,
});

/** Loading most of the code takes a second, so it begins while the database starts. */
export const loadApp = () => import("./app.ts");
export const loadDemo = () =>
  Promise.all([
    import("../demo/load.ts"),
    import("../demo/first-look.ts"),
    import("../demo/app.ts"),
    import("./accounts/index.ts"),
  ]);

/** Returns the URL of the database. `connections` is how many the service may open. */
export async function openDatabaseOf(
  config: Config,
  connections: number,
  { say, onLost, ends }: Surroundings & { ends: Ends },
): Promise<string> {
  const server = await openDatabaseServer({ ...config, connections, say });
  let stopping = false;
  ends.add("database server", () => {
    stopping = true;
    return server.stop();
  });
  void server.exited.then(() => {
    if (!stopping) onLost("the embedded PostgreSQL stopped unexpectedly; the reason is in postgres.log in DATA_DIR");
  });
  return server.url;
}

/** After tracing, which only covers pools opened later. */
export async function openSharesOf(
  config: Config,
  { url, log, isStopping, ends }: { url: string; log: Log; isStopping: () => boolean; ends: Ends },
): Promise<DatabaseShares> {
  ends.add("traces", await startTracing(config.tracing, (reason) => log.warn({ reason }, "traces are lost")));
  const shares = openShares({
    url,
    poolSize: config.databasePoolSize,
    role: config.role,
    importsAtOnce: config.importConnectionsFor,
    replicaUrl: config.databaseReplicaUrl,
    replicaMaxAgeSeconds: config.databaseReplicaMaxAgeSeconds,
    onConnectionError: (err) => {
      if (!isStopping()) log.warn({ err }, "a database connection broke");
    },
  });
  ends.add("database connections", () => shares.close());
  return shares;
}

export async function loadDemoWorldInto(db: PrismaDb, config: Config, say: (line: string) => void): Promise<void> {
  if (!config.demoWorld) return;
  const [{ loadDemoWorld }, { loadFirstLook }, , { hashPassword, setPasswordHash }] = await loadDemo();
  const clock = await readDatabaseClock(db);
  const options = { ...config, now: clock() };
  await withProgress("Loading the demo world", say, async () => {
    if (await loadDemoWorld(db, { ...options, hashPassword, setPasswordHash })) await loadFirstLook(db, options);
  });
}

type Process = {
  log: Log;
  say(line: string): void;
  shares: DatabaseShares;
  metrics: Metrics;
  readMetrics?: () => Promise<string>;
  isStopping: () => boolean;
  ends: Ends;
};

/** Composes the modules of one process and sets its clock to the database's time. */
export async function openApp(config: Config, { say, ends, ...surroundings }: Process): Promise<App> {
  const { metrics, log, shares } = surroundings;
  const { makeApp } = await loadApp();
  watchProcess(metrics);
  const { clock, job } = await openDatabaseClock({ db: shares.jobs, log, metrics });
  const resetTime = setProcessTime(clock);
  ends.add("time of the process", async () => resetTime());
  const app = await withProgress("Preparing keys and pages", say, () => makeApp(config, { clock, ...surroundings }));
  ends.add("modules", () => app.close());
  return { ...app, jobs: [job, ...app.jobs] };
}

/** After `serveApp`, so that it stops first. */
export async function openRosterDrop({ role }: Config, { app, ends }: { app: App; ends: Ends }): Promise<void> {
  const drop = role === "worker" ? null : await app.openRosterDrop();
  if (drop !== null) ends.add("SFTP", () => drop.stop());
}

/** Without ports it only runs jobs. */
export function serveApp(
  { role, shutdownGraceSeconds }: Config,
  { app, ports, log, metrics, ends }: Pick<Process, "log" | "metrics" | "ends"> & { app: App; ports: Ports | null },
): void {
  const jobs = role === "web" ? app.jobs.filter((job) => job.inEveryProcess) : app.jobs;
  const worker: Worker = startWorker(jobs, { log, metrics, onRun: app.noteJob });
  ports?.server.serve(role === "worker" ? app.operationsHandler : app.handler);
  ports?.operations?.serve(app.operationsHandler);
  ends.add("requests and jobs", async () => {
    app.endWaits();
    const [{ cutOff }] = await Promise.all([
      ports?.server.stop(shutdownGraceSeconds) ?? { cutOff: 0 },
      worker.stop(shutdownGraceSeconds),
    ]);
    if (cutOff > 0) log.warn({ cutOff }, "requests did not finish in time and were aborted");
  });
}
