import type { Caller } from "../concurrency/caller.ts";
import { makeGate, tooMuchWork } from "../concurrency/gate.ts";

/** Does a part of an export in its turn. */
export type InTurn = <T>(part: () => Promise<T>) => Promise<T>;

// Of the time of the event loop, all exports of a process together take a fourth at most.
const restFactor = 3;
/** A part that waited for the database is no reason to rest for long. */
const longestRestMs = 2000;

const gate = makeGate({ places: 1, placesPerClient: 1, open: 40, openPerClient: 2, waitMs: 60_000 }, tooMuchWork);

/**
 * Counts an export until its caller has the answer, and makes what does its parts: those of all exports of the process
 * take turns, and after each no other begins for three times as long as it took.
 *
 * Shape:  `by` names the person or app that the export is for. A part does not wait for the caller to read.
 * Errors: rate_limited too_many_requests for a third one at a time; unavailable where all together are too many. Of the
 *         returned function: unavailable; CallerLeft.
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
