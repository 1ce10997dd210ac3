export type Bounded = <T>(work: () => Promise<T>) => Promise<T | "full">;

/**
 * Lets only some of a work run at once and some more wait; beyond that it answers "full" at once.
 *
 * Shape: first come, first served.
 */
export function makeBounded(limit: { atOnce: number; waiting: number }): Bounded {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (work) => {
    if (running >= limit.atOnce) {
      if (queue.length >= limit.waiting) return "full";
      await new Promise<void>((resolve) => queue.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
