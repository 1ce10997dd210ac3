// One process of a service with several; src/start-several.ts starts it and calls the functions below.
import type { Config } from "./config/index.ts";
import { exitCodes, explainFailure } from "./failure.ts";
import { makeLog, type Log } from "./platform/telemetry/log.ts";
import { makeMetrics } from "./platform/telemetry/metrics.ts";
import { connectProcess } from "./platform/processes/processes.ts";
import type { App } from "./app.ts";
import { makeEnds, openApp, openPorts, openRosterDrop, openSharesOf, serveApp, type Ends } from "./start-parts.ts";

export type Plan = { name: string; role: "web" | "worker" };

/** `config` has the settled ports; `url` is that of the database. */
export type ProcessStart = { plan: Plan; config: Config; url: string };

export type Failure = { explained: string | null; error: Error };

type Prepared = { config: Config; log: Log; ends: Ends; app: App };

const metrics = makeMetrics();
let prepared: Prepared | null = null;
let stopping = false;

async function prepare({ plan, config: parentConfig, url }: ProcessStart): Promise<Prepared> {
  const config = { ...parentConfig, role: plan.role };
  const log = makeLog({
    level: config.logLevel,
    format: config.production ? "json" : "readable",
    process: plan.name,
  });
  process.on("uncaughtException", (err) => {
    log.fatal({ err }, "unexpected error, the process ends");
    process.exit(exitCodes.failed);
  });
  const ends = makeEnds(log);
  const isStopping = () => stopping;
  const shares = await openSharesOf(config, { url, log, isStopping, ends });
  const readMetrics = () => call("sumMetrics") as Promise<string>;
  const say = () => undefined;
  const app = await openApp(config, { log, say, shares, metrics, readMetrics, isStopping, ends });
  return { config, log, ends, app };
}

/** Opens the ports last, so that requests only reach a process that can answer. */
async function listen({ config, log, ends, app }: Prepared): Promise<void> {
  const ports = config.role === "web" ? await openPorts(config, ends) : null;
  serveApp(config, { app, ports, log, metrics, ends });
  await openRosterDrop(config, { app, ends });
}

async function explained(config: Config, work: Promise<unknown>): Promise<Failure | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return { explained: explainFailure(error, config), error: error as Error };
  }
}

async function stop(): Promise<void> {
  stopping = true;
  await prepared?.ends.run();
  process.exit(0);
}

const call = connectProcess(process, {
  prepare: (params: ProcessStart) =>
    explained(
      params.config,
      prepare(params).then((ready) => (prepared = ready)),
    ),
  listen: () => explained(prepared!.config, listen(prepared!)),
  readMetrics: () => metrics.registry.getMetricsAsJSON(),
  stop,
});
// Signals reach all processes of a terminal or unit; the first process decides when to stop.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => undefined);
process.stdout.on("error", () => undefined);
