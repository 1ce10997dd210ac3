/** Does the work for each one, some at a time; the results are in the order given. */
export async function inBatches<One, Result>(
  all: readonly One[],
  work: (one: One) => Promise<Result>,
  atOnce = 16,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = all.entries();
  const worker = async () => {
    for (const [place, one] of left) results[place] = await work(one);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
