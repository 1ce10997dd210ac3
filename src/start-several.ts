import { join } from "node:path";
import { Registry } from "prom-client";
import type { Config } from "./config/index.ts";
import { ProcessStartError } from "./failure.ts";
import { openDatabase } from "./platform/database/db.ts";
import type { Log } from "./platform/telemetry/log.ts";
import { makeMetricsOfProcesses, type ReadMetrics } from "./platform/telemetry/metrics-of-processes.ts";
import { watchProcess, watchProcesses } from "./platform/telemetry/metrics.ts";
import { applyMigrations } from "./platform/migrations/migrate.ts";
import { openProcesses, type Process, type Processes } from "./platform/processes/processes.ts";
import { withProgress } from "./platform/jobs/progress.ts";
import type { Failure, ProcessStart, Plan } from "./service-process.ts";
import { startDemoAppsOf, type Running } from "./start.ts";
import { loadDemoWorldInto, makeEnds, openDatabaseOf, openPorts, settlePorts, startOrEnd } from "./start-parts.ts";
import type { Ends, Surroundings } from "./start-parts.ts";

/** Time to close connections after the grace period. */
const secondsToClose = 15;

/**
 * Starts several processes: web processes that share the port and, if the role has jobs, one for jobs. This process
 * owns database, migrations and demo world and restarts the others.
 */
export async function startSeveral(config: Config, surroundings: Surroundings): Promise<Running> {
  return startOrEnd(surroundings.log, (ends) => startParts(config, { ...surroundings, ends }));
}

async function startParts(given: Config, surroundings: Surroundings & { ends: Ends }): Promise<Running> {
  const { log, say, ends } = surroundings;
  const portEnds = makeEnds(log);
  ends.add("ports", () => portEnds.run());
  const config = settlePorts(given, await openPorts(given, portEnds));
  const plans = listPlans(config);
  const url = await openDatabaseOf(config, config.databasePoolSize * plans.length, surroundings);
  await applyMigrations(url, { say });
  if (config.demoWorld) await fillDatabase(url, config, say);

  const processes = openService(plans, { config, url, log });
  ends.add("processes", () => processes.stop(config.shutdownGraceSeconds + secondsToClose));
  const { first } = processes;
  await withProgress("Starting the processes", say, () =>
    Promise.all(first.map((one) => prepare(one, { config, url }))),
  );
  await portEnds.run();
  await Promise.all(first.map(listen));
  processes.keepRunning();
  const demoApps = await startDemoAppsOf(config, ends);
  return { config, metricsPort: config.metricsPort ?? null, demoApps, stop: () => ends.run() };
}

function listPlans({ role, webProcesses }: Config): Plan[] {
  const web = Array.from({ length: webProcesses }, (_, at): Plan => ({ name: `web ${at + 1}`, role: "web" }));
  return role === "all" ? [...web, { name: "jobs", role: "worker" }] : web;
}

async function fillDatabase(url: string, config: Config, say: (line: string) => void): Promise<void> {
  const db = openDatabase({ url, poolSize: 2 });
  await loadDemoWorldInto(db, config, say).finally(() => db.close());
}

function openService(plans: Plan[], { config, url, log }: Omit<ProcessStart, "plan"> & { log: Log }): Processes<Plan> {
  const registry = new Registry();
  watchProcess({ registry });
  const metrics = makeMetricsOfProcesses<Process<Plan>>(registry);
  const countEnd = watchProcesses(registry, {
    roles: [...new Set(plans.map(({ role }) => role))],
    count: (role) => processes.working().filter(({ plan }) => plan.role === role).length,
  });
  const processes: Processes<Plan> = openProcesses<Plan>({
    program: join(import.meta.dirname, "service-process.ts"),
    plans,
    log,
    answers: {
      sumMetrics: () => metrics.sum(processes.working(), ({ call }) => call("readMetrics") as Promise<ReadMetrics>),
    },
    async begin(one) {
      await prepare(one, { config, url });
      await listen(one);
    },
    onEnded(one) {
      metrics.keep(one);
      countEnd.inc({ role: one.plan.role });
    },
  });
  return processes;
}

async function prepare({ plan, call }: Process<Plan>, config: Omit<ProcessStart, "plan">): Promise<void> {
  refuseFailure((await call("prepare", { plan, ...config } satisfies ProcessStart)) as Failure | null);
}

async function listen({ call }: Process<Plan>): Promise<void> {
  refuseFailure((await call("listen")) as Failure | null);
}

function refuseFailure(failure: Failure | null): void {
  if (failure !== null) throw new ProcessStartError(failure.explained, failure.error);
}
