import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type GaugeConfiguration } from "prom-client";

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type Metrics = ReturnType<typeof makeMetrics>;

const makeCounter = <Label extends string>(registry: Registry, name: string, help: string, label: Label) =>
  new Counter({ name, help, labelNames: [label], registers: [registry] });

type Pool = { totalCount: number; idleCount: number; waitingCount: number };

export function makeMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const timed = <Label extends string>(name: string, help: string, labelNames: Label[], buckets = seconds) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const help = "Time to answer a request, by operation.";
  const helpOfJobs = "Time a job ran, by job and outcome.";
  const helpOfAttempts = "Requests to the endpoints of apps, by outcome.";
  const helpOfSignIns =
    "Sign-in attempts with a password or a school's own login (`upstream_failed`, `upstream_refused`), by outcome.";
  return {
    registry,
    httpSeconds: timed("http_request_duration_seconds", help, ["operation", "method", "status"]),
    jobSeconds: timed("job_duration_seconds", helpOfJobs, ["job", "outcome"], [...seconds, 30, 60, 300]),
    signIns: makeCounter(registry, "sign_ins_total", helpOfSignIns, "outcome"),
    webhookAttempts: makeCounter(registry, "webhook_attempts_total", helpOfAttempts, "outcome"),
    tokensIssued: makeCounter(registry, "tokens_issued_total", "Answered token requests, by grant type.", "grant"),
  };
}

export function watchProcess({ registry }: Pick<Metrics, "registry">): void {
  collectDefaultMetrics({ register: registry });
}

type Measured = Omit<GaugeConfiguration<string>, "registers" | "collect">;

/** A gauge whose value is measured each time that it is read. */
export const addGauge = (registry: Registry, described: Measured, measure: (gauge: Gauge) => unknown): Gauge =>
  new Gauge({
    ...described,
    registers: [registry],
    async collect() {
      await measure(this);
    },
  });

export function watchProcesses(
  registry: Registry,
  { roles, count }: { roles: readonly string[]; count(role: string): number },
): Counter<"role"> {
  const help = "Processes that answer requests (`web`) or run jobs (`worker`) now.";
  addGauge(registry, { name: "service_processes", help, labelNames: ["role"] }, (gauge) => {
    for (const role of roles) gauge.set({ role }, count(role));
  });
  const helpOfEnds = "Processes that ended and were replaced, by role.";
  const ends = makeCounter(registry, "service_process_ends_total", helpOfEnds, "role");
  for (const role of roles) ends.inc({ role }, 0);
  return ends;
}

export function watchPools({ registry }: Metrics, pools: Record<string, Pool>): void {
  const help = "Database connections, by pool and state; `waiting` are callers.";
  addGauge(registry, { name: "database_connections", help, labelNames: ["pool", "state"] }, (gauge) => {
    for (const [name, pool] of Object.entries(pools)) {
      gauge.set({ pool: name, state: "open" }, pool.totalCount);
      gauge.set({ pool: name, state: "idle" }, pool.idleCount);
      gauge.set({ pool: name, state: "waiting" }, pool.waitingCount);
    }
  });
}

export function watchMachineClock({ registry }: Metrics, aheadSeconds: () => number): void {
  const help = "How far the clock of this machine is ahead of the database's, by which the service goes.";
  addGauge(registry, { name: "machine_clock_ahead_seconds", help, aggregator: "average" }, (gauge) =>
    gauge.set(aheadSeconds()),
  );
}

type Job = { name: string; everySeconds: number };

export const lateAfterSeconds = ({ everySeconds }: Pick<Job, "everySeconds">): number => 3 * everySeconds + 60;

export function watchJobs({ registry }: Pick<Metrics, "registry">, jobs: readonly Job[]): (name: string) => void {
  const now = () => performance.now() / 1000;
  const startedAt = now();
  const doneAt = new Map<string, number>();
  const ageOf = (name: string) => now() - (doneAt.get(name) ?? startedAt);
  const measure = (name: string, help: string, valueOf: (job: Job) => number) =>
    addGauge(registry, { name, help, labelNames: ["job"], aggregator: "max" }, (gauge) => {
      for (const job of jobs) gauge.set({ job: job.name }, valueOf(job));
    });
  measure(
    "job_success_age_seconds",
    "Time since a run of the job last ended well in this process, or since the process started.",
    ({ name }) => ageOf(name),
  );
  measure(
    "job_late",
    "1 where no run of the job has ended well for three times the time between two, and a minute; else 0.",
    (job) => (ageOf(job.name) > lateAfterSeconds(job) ? 1 : 0),
  );
  return (name) => void doneAt.set(name, now());
}

export function watchImports({ registry }: Metrics, count: () => Record<"running" | "waiting", number>): void {
  const help = "Imports that this process reads or applies (`running`) or that wait for their turn (`waiting`).";
  addGauge(registry, { name: "imports_in_queue", help, labelNames: ["state"] }, (gauge) => {
    for (const [state, value] of Object.entries(count())) gauge.set({ state }, value);
  });
}

type Replica = { ageSeconds(): number; readonly taken: Readonly<Record<"replica" | "primary", number>> };

export function watchReplica({ registry }: Metrics, replica: Replica): void {
  const help = "How old what the replica answers is at most; it grows while the replica or the primary is away.";
  addGauge(registry, { name: "database_replica_age_seconds", help, aggregator: "max" }, (gauge) =>
    gauge.set(replica.ageSeconds()),
  );
  new Counter({
    name: "database_reads_total",
    help: "Connections given to reads, by server; `primary` while the replica is away or too old.",
    labelNames: ["server"],
    registers: [registry],
    collect() {
      this.reset();
      for (const server of ["replica", "primary"] as const) this.inc({ server }, replica.taken[server]);
    },
  });
}
