import { startDemoApps, type DemoApps } from "../demo/app.ts";
import { loadDemoWorld } from "../demo/load.ts";
import { makeApp } from "./app.ts";
import { settlePort, type Config } from "./config/index.ts";
import { systemClock } from "./platform/clock.ts";
import type { Log } from "./platform/log.ts";
import { makeMetrics, watchProcess } from "./platform/metrics.ts";
import { applyMigrations } from "./platform/migrate.ts";
import { openDatabaseServer } from "./platform/postgres/index.ts";
import { withProgress } from "./platform/progress.ts";
import { openServer, type Server } from "./platform/server.ts";
import { openShares } from "./platform/shares.ts";
import { startWorker } from "./platform/worker.ts";
import { setCredential } from "./sign-on/index.ts";

type Surroundings = {
  log: Log;
  /** Progress lines for the person who waits. */
  say(line: string): void;
  /** Called when the service cannot go on; the callee stops it. */
  onLost(what: string): void;
};

export type Running = {
  config: Config;
  metricsPort: number | null;
  /** Null without the demo world. */
  demoApps: Pick<DemoApps, "running" | "takenPorts"> | null;
  stop(): Promise<void>;
};

/** What was started, to be stopped in the opposite order. */
function makeEnds(log: Log) {
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

/**
 * Starts the whole service: port, database, migrations, demo world, modules, jobs.
 *
 * Errors: an error of any part is thrown after everything started before it was stopped.
 */
export async function startService(given: Config, surroundings: Surroundings): Promise<Running> {
  const ends = makeEnds(surroundings.log);
  try {
    return await startParts(given, surroundings, ends);
  } catch (error) {
    await ends.run();
    throw error;
  }
}

async function startParts(
  given: Config,
  surroundings: Surroundings,
  ends: ReturnType<typeof makeEnds>,
): Promise<Running> {
  const { log, say } = surroundings;
  const metrics = makeMetrics();
  watchProcess(metrics);

  const server = await openPort(given, given.port);
  const operations = given.metricsPort === undefined ? null : await openPort(given, given.metricsPort);
  const closeOperations = () => operations?.stop(0) ?? Promise.resolve();
  ends.add("health and metrics port", closeOperations);
  ends.add("port", () => server.stop(0));
  const config = settlePort(given, server.port);

  const url = await openDatabaseOf(config, surroundings, ends);
  const shares = openShares({
    url,
    replicaUrl: config.databaseReplicaUrl,
    poolSize: config.databasePoolSize,
    role: config.role,
    onConnectionError: (err) => {
      if (!server.isStopping()) log.warn({ err }, "a database connection broke");
    },
  });
  ends.add("database connections", () => shares.close());
  await applyMigrations(url, { say });
  if (config.demoWorld)
    await withProgress("Loading the demo world", say, () =>
      loadDemoWorld(shares.changes, { ...config, now: systemClock(), setCredential }),
    );

  const app = await withProgress("Preparing keys and pages", say, () =>
    makeApp(config, { clock: systemClock, log, shares, metrics, isStopping: server.isStopping }),
  );
  ends.add("modules", () => app.close());
  const jobs = config.role === "web" ? app.jobs.filter((job) => job.inEveryProcess) : app.jobs;
  const worker = startWorker(jobs, { log, metrics, onRun: app.noteJob });
  server.serve(config.role === "worker" ? app.operationsHandler : app.handler);
  operations?.serve(app.operationsHandler);
  ends.add("requests and jobs", async () => {
    app.endWaits();
    const [{ cutOff }] = await Promise.all([
      server.stop(config.shutdownGraceSeconds),
      worker.stop(config.shutdownGraceSeconds),
    ]);
    if (cutOff > 0) log.warn({ cutOff }, "requests did not finish in time and were aborted");
  });

  const demoApps = config.demoWorld && config.role !== "worker" ? await startDemoApps(config) : null;
  if (demoApps !== null) ends.add("demo apps", () => demoApps.close());
  return { config, metricsPort: operations?.port ?? null, demoApps, stop: () => ends.run() };
}

function openPort({ host }: Config, port: number): Promise<Server> {
  return openServer({ host, port });
}

async function openDatabaseOf(
  config: Config,
  { say, onLost }: Surroundings,
  ends: ReturnType<typeof makeEnds>,
): Promise<string> {
  const server = await openDatabaseServer({ ...config, say });
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
