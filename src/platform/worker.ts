import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/**
 * Work that is done again and again.
 *
 * Shape: `run` may be running in several processes at once and must bear that; it ends soon after `signal` aborts.
 * Units: `everySeconds` counts from the end of one run to the start of the next.
 */
export type WorkerJob = {
  name: string;
  everySeconds: number;
  /** Web processes need it too, such as watching for new signing keys. */
  inEveryProcess?: true;
  /** Waits for the next run; shorter than it should when there is work before the time. */
  wait?(seconds: number, signal: AbortSignal): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
};

type Worker = {
  /** Ends the jobs; what still runs gets the grace time. */
  stop(graceSeconds: number): Promise<void>;
};

export function startWorker(jobs: WorkerJob[], { log, metrics }: { log: Log; metrics: Metrics }): Worker {
  const stopping = new AbortController();
  const loops = jobs.map((job) => repeat(job, stopping.signal, log, metrics));
  return {
    async stop(graceSeconds) {
      stopping.abort();
      const giveUp = new AbortController();
      const finished = Promise.all(loops).then(() => giveUp.abort());
      await Promise.race([finished, sleep(graceSeconds * 1000, undefined, { signal: giveUp.signal }).catch(() => {})]);
    },
  };
}

async function repeat(job: WorkerJob, signal: AbortSignal, log: Log, metrics: Metrics): Promise<void> {
  while (!signal.aborted) {
    await runOnce(job, signal, log, metrics);
    await (job.wait ?? waitWhole)(job.everySeconds, signal);
  }
}

async function waitWhole(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(seconds * 1000, undefined, { signal }).catch(() => {});
}

async function runOnce(job: WorkerJob, signal: AbortSignal, log: Log, metrics: Metrics): Promise<void> {
  const end = metrics.jobSeconds.startTimer({ job: job.name });
  try {
    await job.run(signal);
    end({ outcome: "done" });
  } catch (err) {
    end({ outcome: signal.aborted ? "aborted" : "failed" });
    if (!signal.aborted) log.error({ err, job: job.name }, "job failed");
  }
}
