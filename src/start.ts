import type { DemoApps } from "../demo/app.ts";
import type { Config } from "./config/index.ts";
import { makeMetrics } from "./platform/telemetry/metrics.ts";
import { applyMigrations } from "./platform/migrations/migrate.ts";
import {
  loadApp,
  loadDemo,
  loadDemoWorldInto,
  openApp,
  openDatabaseOf,
  openPorts,
  openRosterDrop,
  openSharesOf,
  serveApp,
  settlePorts,
  startOrEnd,
  type Ends,
  type Surroundings,
} from "./start-parts.ts";

export type Running = {
  config: Config;
  metricsPort: number | null;
  demoApps: Pick<DemoApps, "running" | "takenPorts"> | null;
  stop(): Promise<void>;
};

/** Starts the whole service in this process. Errors: stops what was started, then throws. */
export async function startService(config: Config, surroundings: Surroundings): Promise<Running> {
  return startOrEnd(surroundings.log, (ends) => startParts(config, { ...surroundings, ends }));
}

async function startParts(given: Config, surroundings: Surroundings & { ends: Ends }): Promise<Running> {
  const { say, log, ends } = surroundings;
  const metrics = makeMetrics();
  const ports = await openPorts(given, ends);
  const config = settlePorts(given, ports);
  const [url] = await Promise.all([
    openDatabaseOf(config, config.databasePoolSize, surroundings),
    loadApp(),
    config.demoWorld ? loadDemo() : null,
  ]);
  const { isStopping } = ports.server;
  const shares = await openSharesOf(config, { url, log, isStopping, ends });
  await applyMigrations(url, { say });
  await loadDemoWorldInto(shares.jobs, config, say);
  const app = await openApp(config, { log, say, shares, metrics, isStopping, ends });
  serveApp(config, { app, ports, log, metrics, ends });
  await openRosterDrop(config, { app, ends });
  const demoApps = await startDemoAppsOf(config, ends);
  return { config, metricsPort: config.metricsPort ?? null, demoApps, stop: () => ends.run() };
}

export async function startDemoAppsOf(config: Config, ends: Ends): Promise<DemoApps | null> {
  if (!config.demoWorld || config.role === "worker") return null;
  const [, , { startDemoApps }] = await loadDemo();
  const demoApps = await startDemoApps(config);
  ends.add("demo apps", () => demoApps.close());
  return demoApps;
}
