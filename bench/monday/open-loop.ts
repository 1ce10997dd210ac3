import { setTimeout as wait } from "node:timers/promises";
import { Refused } from "./browser.ts";

/** Units: milliseconds from the moment that the clock gave an arrival, not from the moment it was sent. */
export type Arrivals = {
  arrived: number;
  /** How many succeeded before the last arrival. */
  meanwhile: number;
  /** Times of those that succeeded, in order. */
  took: number[];
  refused: Refused[];
  /** What else went wrong, with how often. */
  failed: Map<string, number>;
  /** The most under way at a time. */
  most: number;
};

/**
 * Starts work at a fixed pace for a time, whether or not earlier work has been answered, and waits until all has ended.
 *
 * Shape: at most `most` arrivals.
 */
export async function arrive(
  work: (n: number) => Promise<unknown>,
  { perSecond, seconds, most = 20_000 }: { perSecond: number; seconds: number; most?: number },
): Promise<Arrivals> {
  const result: Arrivals = { arrived: 0, meanwhile: 0, took: [], refused: [], failed: new Map(), most: 0 };
  const count = Math.min(Math.round(perSecond * seconds), most);
  const [all, began] = [[] as Promise<void>[], performance.now()];
  let underWay = 0;
  const start = async (n: number, due: number) => {
    result.most = Math.max(result.most, ++underWay);
    try {
      await work(n);
      const ended = performance.now();
      result.took.push(ended - due);
      if (ended - began <= seconds * 1000) result.meanwhile++;
    } catch (error) {
      if (error instanceof Refused) result.refused.push(error);
      else {
        const what = (error as Error).message;
        result.failed.set(what, (result.failed.get(what) ?? 0) + 1);
      }
    }
    underWay--;
  };
  while (result.arrived < count) {
    const due = began + (result.arrived * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await wait(early);
    all.push(start(result.arrived++, due));
  }
  await Promise.all(all);
  result.took.sort((a, b) => a - b);
  return result;
}

export const at = (times: readonly number[], share: number): number =>
  times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
