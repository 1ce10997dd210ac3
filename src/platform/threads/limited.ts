import { availableParallelism } from "node:os";
import type { Caller } from "../concurrency/caller.ts";
import { makeGate, tooMuchWork } from "../concurrency/gate.ts";
import { makeThreadPool, type Task } from "./pool.ts";

/** `by` names the person or app that the work is for. */
export type AskedBy = { by: string; caller: Caller };

/** Leaves a processor to requests; more than four such threads at a time would need more memory than they are worth. */
const places = Math.max(1, Math.min(4, availableParallelism() - 1));

// Sign-ons go first.
const run = makeThreadPool({ niceness: 10 });
const gate = makeGate({ places, placesPerClient: 1, open: 40, openPerClient: 2, waitMs: 30_000 }, tooMuchWork);

/**
 * Makes a function whose work is done in a thread, one at a time for each person and kind of work; a second one waits.
 *
 * Errors: of the returned function: rate_limited too_many_requests for a third one; unavailable where all who wait are
 *         too many, or the work takes too long; CallerLeft.
 */
export function limitThreaded<Given, Made>(task: Task): (given: Given, asked: AskedBy) => Promise<Made> {
  return async (given, { by, caller }) => {
    const client = `${task.module.pathname} ${by}`;
    const leave = gate.admit(client);
    try {
      const end = await gate.enter(client, caller);
      try {
        return (await run(task, given, caller)) as Made;
      } finally {
        end();
      }
    } finally {
      leave();
    }
  };
}
