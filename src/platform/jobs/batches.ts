/** So many rows are removed within a second, so that locks are short. */
export const sweepBatch = 5000;

export async function removeInBatches(
  signal: AbortSignal,
  removeBatch: (batch: number) => Promise<number>,
  batch = sweepBatch,
): Promise<number> {
  let removed = 0;
  for (let last = batch; last >= batch && !signal.aborted; removed += last) last = await removeBatch(batch);
  return removed;
}
