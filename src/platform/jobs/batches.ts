/** Removing this many rows takes less than a second, which keeps locks short. */
export const sweepBatch = 5000;

/** Calls `workOn` until a call does fewer than `batch` or the job stops. Returns how many were done. */
export async function workInBatches(
  signal: AbortSignal,
  workOn: (batch: number) => Promise<number>,
  batch = sweepBatch,
): Promise<number> {
  let done = 0;
  for (let last = batch; last >= batch && !signal.aborted; done += last) last = await workOn(batch);
  return done;
}
