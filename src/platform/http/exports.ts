import type { Caller } from "../concurrency/caller.ts";
import { makeGate, tooMuchWork } from "../concurrency/gate.ts";

export type InTurn = <T>(part: () => Promise<T>) => Promise<T>;

// All exports of a process together take at most a quarter of the event loop's time.
const restFactor = 3;
/** Time spent waiting for the database must not cause a long rest. */
const longestRestMs = 2000;

const gate = makeGate({ places: 1, placesPerClient: 1, open: 40, openPerClient: 2, waitMs: 60_000 }, tooMuchWork);

/**
 * Admits an export and returns a function that runs its parts: exports take turns, and after each part they rest three
 * times as long as it took.
 *
 * Errors: rate_limited for a caller's third export, unavailable if there are too many in all; CallerLeft.
 */
export function startExport({ by, caller }: { by: string; caller: Caller }): InTurn {
  const leave = gate.admit(by);
  caller.onLeave(leave);
  if (caller.hasLeft()) leave();
  return async (part) => {
    const end = await gate.enter(by, caller);
    const startMs = performance.now();
    try {
      return await part();
    } finally {
      setTimeout(end, Math.min(longestRestMs, (performance.now() - startMs) * restFactor)).unref();
    }
  };
}
