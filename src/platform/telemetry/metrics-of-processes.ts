import { setTimeout as sleep } from "node:timers/promises";
import { AggregatorRegistry, type Registry } from "prom-client";

export type ReadMetrics = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

type MetricsOf<Source extends object> = {
  sum(sources: readonly Source[], read: (source: Source) => Promise<ReadMetrics>): Promise<string>;
  keep(source: Source): void;
};

const patienceMs = 2000;

/** Event loop times are maxima. Counts between the last sum and a process's end are lost. */
export function makeMetricsOfProcesses<Source extends object>(own: Registry): MetricsOf<Source> {
  const lastOf = new WeakMap<Source, ReadMetrics>();
  let ended: Promise<ReadMetrics> = Promise.resolve([]);

  async function readOf(source: Source, read: (source: Source) => Promise<ReadMetrics>): Promise<ReadMetrics> {
    const metrics = await Promise.race([read(source).catch(() => null), sleep(patienceMs, null, { ref: false })]);
    if (metrics !== null) lastOf.set(source, metrics);
    return lastOf.get(source) ?? [];
  }

  return {
    async sum(sources, read) {
      // Processes that end from now on are still among the sources.
      const endedBefore = ended;
      const all = await Promise.all(sources.map((source) => readOf(source, read)));
      return add([await own.getMetricsAsJSON(), ...all, await endedBefore]).metrics();
    },
    keep(source) {
      const counted = (lastOf.get(source) ?? []).filter(isCounted);
      ended = ended.then((before) => add([before, counted]).getMetricsAsJSON());
    },
  };
}

const isCounted = ({ type }: ReadMetrics[number]) => ["counter", "histogram"].includes(String(type));

const aggregatorOf: Record<string, "first" | "max"> = {
  process_start_time_seconds: "first",
  ...Object.fromEntries(
    ["", "_mean", "_stddev", "_p50", "_p90", "_p99"].map((name) => [
      `nodejs_eventloop_lag${name}_seconds`,
      "max" as const,
    ]),
  ),
};

const add = (all: readonly ReadMetrics[]): Registry =>
  AggregatorRegistry.aggregate(
    all.map((metrics) =>
      metrics.map((metric) => ({ ...metric, aggregator: aggregatorOf[metric.name] ?? metric.aggregator })),
    ),
  );
