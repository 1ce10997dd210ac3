/*
 * threads: work that would block the event loop.
 *
 * Nouns:      thread, task (a module that runs in a thread), pool.
 * Invariants: a failure, a time limit or a disconnected caller ends that thread and no other; idle threads do not
 *             keep the process running.
 * Never knows: what the work is.
 */
import { availableParallelism } from "node:os";
import type { Caller } from "../concurrency/caller.ts";
import { makeGate, tooMuchWork } from "../concurrency/gate.ts";
import { makeThreadPool, type Task } from "./pool.ts";

export { makeThreadPool } from "./pool.ts";

export type AskedBy = { by: string; caller: Caller };

/** Leaves a processor to requests; more than four threads need too much memory. */
const places = Math.max(1, Math.min(4, availableParallelism() - 1));

// Lower priority than sign-ons.
const run = makeThreadPool({ niceness: 10 });
const gate = makeGate({ places, placesPerClient: 1, open: 40, openPerClient: 2, waitMs: 30_000 }, tooMuchWork);

/** One call at a time per person and task. Errors: rate_limited for a third; unavailable if too late; CallerLeft. */
export function limitThreaded<Given, Made>(task: Task): (params: Given, asked: AskedBy) => Promise<Made> {
  return async (params, { by, caller }) => {
    const client = `${task.module.pathname} ${by}`;
    const leave = gate.admit(client);
    try {
      const end = await gate.enter(client, caller);
      try {
        return (await run(task, params, caller)) as Made;
      } finally {
        end();
      }
    } finally {
      leave();
    }
  };
}
