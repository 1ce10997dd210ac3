import { setImmediate as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { makeLog, silentLog } from "../../src/platform/telemetry/log.ts";
import { makeMetrics, watchJobs } from "../../src/platform/telemetry/metrics.ts";
import { startWorker } from "../../src/platform/jobs/worker.ts";

test("a job runs again and again and never overlaps itself", async () => {
  const { promise: oftenRun, resolve } = Promise.withResolvers<undefined>();
  let running = 0;
  let most = 0;
  let runs = 0;
  const run = async () => {
    most = Math.max(most, ++running);
    await pause();
    running--;
    if (++runs > 3) resolve(undefined);
  };
  const worker = startWorker([{ name: "count", everySeconds: 0.001, run }], { log: silentLog, metrics: makeMetrics() });
  await oftenRun;
  await worker.stop(600);
  expect([most, running]).toEqual([1, 0]);
});

test("a job that fails is logged and counted, and runs again", async () => {
  const lines: string[] = [];
  const metrics = makeMetrics();
  const { promise: runAgain, resolve } = Promise.withResolvers<undefined>();
  let runs = 0;
  const run = async () => {
    if (++runs > 1) resolve(undefined);
    throw new Error("no luck");
  };
  const log = makeLog({ level: "error", format: "json", to: { write: (line: string) => void lines.push(line) } });
  const worker = startWorker([{ name: "unlucky", everySeconds: 0.001, run }], { log, metrics });
  await runAgain;
  await worker.stop(600);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: "error", job: "unlucky", msg: "job failed" });
  expect(await metrics.registry.metrics()).toContain('job_duration_seconds_count{job="unlucky",outcome="failed"}');
});

test("a job that has not ended well in time is late, and in time again after a run that has", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const metrics = makeMetrics();
  const noteSuccess = watchJobs(metrics, [{ name: "hourly", everySeconds: 3600 }]);
  const late = async () => /job_late\{job="hourly"\} (\d)/.exec(await metrics.registry.metrics())?.[1];
  try {
    vi.advanceTimersByTime(10_860_000);
    expect(await late()).toBe("0");
    vi.advanceTimersByTime(1000);
    expect(await late()).toBe("1");
    expect(await metrics.registry.metrics()).toContain('job_success_age_seconds{job="hourly"} 10861');
    noteSuccess("hourly");
    expect(await late()).toBe("0");
  } finally {
    vi.useRealTimers();
  }
});

test("a stop aborts the signal, waits for the running job, and gives up after the grace time", async () => {
  const patient = startWorker(
    [
      {
        name: "patient",
        everySeconds: 60,
        run: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => setImmediate(resolve))),
      },
    ],
    { log: silentLog, metrics: makeMetrics() },
  );
  const deaf = startWorker([{ name: "deaf", everySeconds: 60, run: () => new Promise(() => {}) }], {
    log: silentLog,
    metrics: makeMetrics(),
  });
  const startedAt = performance.now();
  await patient.stop(600);
  expect(performance.now() - startedAt).toBeLessThan(300_000);
  await deaf.stop(0.02);
});

test("a run that a stop ends counts neither as done nor as failed", async () => {
  const runs: unknown[] = [];
  const stopped = startWorker(
    [
      {
        name: "stopped",
        everySeconds: 60,
        run: (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stop")))),
      },
    ],
    { log: silentLog, metrics: makeMetrics(), onRun: (run) => runs.push(run) },
  );
  await stopped.stop(600);
  expect(runs).toEqual([]);
});
