import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../telemetry/log.ts";
import { watchJobs, type Metrics } from "../telemetry/metrics.ts";

/** A job that several processes may run at once; `everySeconds` is the pause between two runs. */
export type WorkerJob = {
  name: string;
  everySeconds: number;
  inEveryProcess?: true;
  wait?(seconds: number, signal: AbortSignal): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
};

export type Worker = {
  stop(graceSeconds: number): Promise<void>;
};

type Surroundings = {
  log: Log;
  metrics: Metrics;
  onRun?: (run: { name: string; outcome: "done" | "failed"; durationMs: number }) => void;
};

export function startWorker(jobs: WorkerJob[], surroundings: Surroundings): Worker {
  const stopping = new AbortController();
  const noteSuccess = watchJobs(surroundings.metrics, jobs);
  const onRun: Surroundings["onRun"] = (run) => {
    if (run.outcome === "done") noteSuccess(run.name);
    surroundings.onRun?.(run);
  };
  const loops = jobs.map((job) => repeat(job, stopping.signal, { ...surroundings, onRun }));
  return {
    async stop(graceSeconds) {
      stopping.abort();
      const giveUp = new AbortController();
      const finished = Promise.all(loops).then(() => giveUp.abort());
      await Promise.race([finished, sleep(graceSeconds * 1000, undefined, { signal: giveUp.signal }).catch(() => {})]);
    },
  };
}

async function repeat(job: WorkerJob, signal: AbortSignal, surroundings: Surroundings): Promise<void> {
  while (!signal.aborted) {
    await runOnce(job, signal, surroundings);
    await (job.wait ?? waitWhole)(job.everySeconds, signal);
  }
}

async function waitWhole(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(seconds * 1000, undefined, { signal }).catch(() => {});
}

async function runOnce(job: WorkerJob, signal: AbortSignal, { log, metrics, onRun = () => {} }: Surroundings) {
  const end = metrics.jobSeconds.startTimer({ job: job.name });
  const startedAt = performance.now();
  const note = (outcome: "done" | "failed") =>
    onRun({ name: job.name, outcome, durationMs: Math.round(performance.now() - startedAt) });
  try {
    await job.run(signal);
    end({ outcome: "done" });
    note("done");
  } catch (err) {
    end({ outcome: signal.aborted ? "aborted" : "failed" });
    if (signal.aborted) return;
    note("failed");
    log.error({ err, job: job.name }, "job failed");
  }
}
