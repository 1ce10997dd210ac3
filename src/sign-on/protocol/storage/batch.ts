/** `inParallel` running batches delay the next one, without those that take longer than `patienceMs`. */
type BatchLimits = { inParallel: number; atOnce: number; largest: number; patienceMs: number };

/** Collects items while earlier batches run. An item never joins a batch that was already sent. */
export function makeBatch<Item, Answer>(
  run: (items: Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { inParallel, atOnce, largest, patienceMs }: BatchLimits,
): (item: Item) => Promise<Answer> {
  type Waiting = { item: Item; resolve(answer: Answer | Promise<Answer>): void; reject(error: unknown): void };
  let waiting: Waiting[] = [];
  let underWay = 0;
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

  // setImmediate runs after all received input was read, so that it shares a batch.
  const sendIfFree = (): void => {
    if (waiting.length > 0 && underWay - slow < inParallel && underWay < atOnce) void send();
  };

  return (item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (waiting.length === 1) setImmediate(sendIfFree);
    });
}
