/** Units: milliseconds; `took` in order. */
export type Made = { count: number; perSecond: number; took: number[]; failed: number };

/**
 * Sign-ons that `connections` browsers make, each one after another, until there are `count` or the time is over.
 *
 * Errors: one that fails is counted; the first reason is printed.
 */
export async function signOnInTurns(
  signOn: (connection: number) => Promise<void>,
  { connections, count = Infinity, seconds = Infinity }: { connections: number; count?: number; seconds?: number },
): Promise<Made> {
  const [took, began] = [[] as number[], performance.now()];
  let [started, failed] = [0, 0];
  const connect = async (connection: number) => {
    while (started < count && performance.now() - began < seconds * 1000) {
      started++;
      const start = performance.now();
      try {
        await signOn(connection);
        took.push(performance.now() - start);
      } catch (error) {
        if (failed++ === 0) console.error("a sign-on failed:", error);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, connection) => connect(connection)));
  const perSecond = took.length / ((performance.now() - began) / 1000);
  return { count: took.length, perSecond, took: took.sort((a, b) => a - b), failed };
}
