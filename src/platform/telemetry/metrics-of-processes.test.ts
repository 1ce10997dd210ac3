import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { makeMetricsOfProcesses } from "./metrics-of-processes.ts";

function makeProcess() {
  const registry = new Registry();
  const registers = [registry];
  const count = new Counter({ name: "answers_total", help: "Answers.", labelNames: ["status"], registers });
  const open = new Gauge({ name: "open", help: "What is open.", registers });
  const seconds = new Histogram({ name: "seconds", help: "Times.", buckets: [1, 2], registers });
  const lag = new Gauge({ name: "nodejs_eventloop_lag_p99_seconds", help: "Lag.", registers });
  return { registry, count, open, seconds, lag };
}
type Process = ReturnType<typeof makeProcess>;

function makeSubject() {
  const own = new Registry();
  new Gauge({ name: "process_start_time_seconds", help: "Start.", registers: [own] }).set(4711);
  const [one, other] = [makeProcess(), makeProcess()];
  const metrics = makeMetricsOfProcesses<Process>(own);
  const read = ({ registry }: Process) => registry.getMetricsAsJSON();
  return { one, other, metrics, read };
}

test("counters, gauges and histograms are sums by label, of the lag the longest counts", async () => {
  const { one, other, metrics, read } = makeSubject();
  one.count.inc({ status: "200" }, 2);
  other.count.inc({ status: "200" }, 3);
  other.count.inc({ status: "500" });
  one.open.set(4);
  other.open.set(5);
  one.seconds.observe(0.5);
  other.seconds.observe(1.5);
  one.lag.set(0.1);
  other.lag.set(0.7);
  const text = await metrics.sum([one, other], read);
  expect(text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
    "process_start_time_seconds 4711",
    'answers_total{status="200"} 5',
    'answers_total{status="500"} 1',
    "open 9",
    'seconds_bucket{le="1"} 1',
    'seconds_bucket{le="2"} 2',
    'seconds_bucket{le="+Inf"} 2',
    "seconds_sum 2",
    "seconds_count 2",
    "nodejs_eventloop_lag_p99_seconds 0.7",
  ]);
});

test("what ended processes had counted stays in the sum, and their gauges do not", async () => {
  const { one, other, metrics, read } = makeSubject();
  one.count.inc({ status: "200" }, 2);
  other.count.inc({ status: "200" }, 3);
  one.open.set(4);
  await metrics.sum([one, other], read);
  metrics.keep(one);
  metrics.keep(other);
  const text = await metrics.sum([makeProcess()], read);
  expect(text).toContain('answers_total{status="200"} 5');
  expect(text).toContain("\nopen 0");
});

test("a process that ends while it is asked counts once, with what it said last", async () => {
  const { one, other, metrics, read } = makeSubject();
  one.count.inc({ status: "200" }, 2);
  await metrics.sum([one, other], read);
  const text = await metrics.sum([one, other], async (source) => {
    if (source !== one) return read(source);
    metrics.keep(one);
    throw new Error("the other process has ended");
  });
  expect(text).toContain('answers_total{status="200"} 2');
});
