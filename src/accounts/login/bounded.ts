export type Bounded = <T>(work: () => Promise<T>) => Promise<T | "full">;

/** Limits how many calls run and how many wait, in the order of arrival. Further calls get "full" at once. */
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

type BoundedByKey = <T>(key: string, work: () => Promise<T>) => Promise<T | "full">;

export function makeBoundedByKey(limit: { atOnce: number; waiting: number }): BoundedByKey {
  const byKey = new Map<string, { bounded: Bounded; users: number }>();
  return async (key, work) => {
    const entry = byKey.get(key) ?? { bounded: makeBounded(limit), users: 0 };
    byKey.set(key, entry);
    entry.users += 1;
    try {
      return await entry.bounded(work);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) byKey.delete(key);
    }
  };
}
