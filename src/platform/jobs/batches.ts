/** Rows that one statement of a sweep removes at most: so many are gone within a second, and lock no row for longer. */
export const sweepBatch = 5000;

/**
 * Removes old rows a batch at a time, until a batch is not full; answers how many there were.
 *
 * Shape: `removeBatch` answers how many rows it removed, each batch in a transaction of its own.
 */
export async function removeInBatches(
  signal: AbortSignal,
  removeBatch: (batch: number) => Promise<number>,
  batch = sweepBatch,
): Promise<number> {
  let removed = 0;
  for (let last = batch; last >= batch && !signal.aborted; removed += last) last = await removeBatch(batch);
  return removed;
}
