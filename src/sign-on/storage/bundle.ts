/**
 * Puts together what is asked for while an earlier question is under way.
 *
 * Shape: `run` answers in the order of its items. Nobody gets an answer to a question that was sent before they asked,
 *        so that nothing is stale; at low load nobody waits. Where an answer takes longer than `patienceMs`, the next
 *        question does not wait for it, up to `atOnce` questions at a time.
 */
export function makeBundle<Item, Answer>(
  run: (items: Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { atOnce, largest, patienceMs }: { atOnce: number; largest: number; patienceMs: number },
): (item: Item) => Promise<Answer> {
  type Waiting = { item: Item; resolve(answer: Answer | Promise<Answer>): void; reject(error: unknown): void };
  let waiting: Waiting[] = [];
  let underWay = 0;
  /** Of those under way, the ones that nobody waits for any more. */
  let slow = 0;

  const send = async (): Promise<void> => {
    const bundle = waiting.slice(0, largest);
    waiting = waiting.slice(largest);
    underWay++;
    let isSlow = false;
    const patience = setTimeout(() => {
      isSlow = true;
      slow++;
      sendIfFree();
    }, patienceMs);
    try {
      const answers = await run(bundle.map(({ item }) => item));
      bundle.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
    } catch (error) {
      for (const { reject } of bundle) reject(error);
    } finally {
      clearTimeout(patience);
      underWay--;
      if (isSlow) slow--;
      setImmediate(sendIfFree);
    }
  };

  // After the input that has arrived was read, so that all of it goes together.
  const sendIfFree = (): void => {
    if (waiting.length > 0 && underWay === slow && underWay < atOnce) void send();
  };

  return (item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (waiting.length === 1) setImmediate(sendIfFree);
    });
}
