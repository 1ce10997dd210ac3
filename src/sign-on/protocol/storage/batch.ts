export type BatchLimits = {
  /** Batches under way at which the next one waits, without those that take longer than `patienceMs`. */
  inParallel: number;
  /** Batches under way at most. */
  atOnce: number;
  largest: number;
  patienceMs: number;
};

/**
 * Collects what is asked while earlier batches are running and sends it as the next batch.
 *
 * Shape: `run` answers in the order of its items. An answer never comes from a batch that was sent before its question,
 *        so no answer is stale; at low load nothing waits.
 */
export function makeBatch<Item, Answer>(
  run: (items: Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { inParallel, atOnce, largest, patienceMs }: BatchLimits,
): (item: Item) => Promise<Answer> {
  type Waiting = { item: Item; resolve(answer: Answer | Promise<Answer>): void; reject(error: unknown): void };
  let waiting: Waiting[] = [];
  let underWay = 0;
  /** The batches under way that the next one does not wait for. */
  let slow = 0;

  const send = async (): Promise<void> => {
    const batch = waiting.slice(0, largest);
    waiting = waiting.slice(largest);
    underWay++;
    let isSlow = false;
    const patience = setTimeout(() => {
      isSlow = true;
      slow++;
      sendIfFree();
    }, patienceMs);
    try {
      const answers = await run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      clearTimeout(patience);
      underWay--;
      if (isSlow) slow--;
      setImmediate(sendIfFree);
    }
  };

  // setImmediate runs after all input that has arrived was read, so that all of it is in one batch.
  const sendIfFree = (): void => {
    if (waiting.length > 0 && underWay - slow < inParallel && underWay < atOnce) void send();
  };

  return (item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (waiting.length === 1) setImmediate(sendIfFree);
    });
}
