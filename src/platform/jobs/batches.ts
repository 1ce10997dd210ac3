import type { Clock } from "../clock.ts";
import type { WorkerJob } from "./worker.ts";

/** Removing this many rows takes less than a second, which keeps locks short. */
export const sweepBatch = 5000;

/** Calls `workOn` until it handles fewer rows than `batch`, or the job stops. Returns the number of rows. */
export async function workInBatches(
  signal: AbortSignal,
  workOn: (batch: number) => Promise<number>,
  batch = sweepBatch,
): Promise<number> {
  let done = 0;
  for (let last = batch; last >= batch && !signal.aborted; done += last) last = await workOn(batch);
  return done;
}

/** Removes at most `batch` rows, and returns how many. */
type Remove = (now: Date, batch: number) => Promise<number>;

/** Makes a job that deletes expired rows in batches. */
export const makeSweep = (
  { name, clock, everySeconds = 3600 }: { name: string; clock: Clock; everySeconds?: number },
  ...removals: readonly Remove[]
): WorkerJob => ({
  name,
  everySeconds,
  async run(signal) {
    const now = clock();
    for (const remove of removals) await workInBatches(signal, (batch) => remove(now, batch));
  },
});
