/**
 * threads: work that would block the event loop.
 *
 * Nouns:      thread, task (a module that runs in a thread), pool.
 * Invariants: a failure, a time limit or a disconnected caller ends that thread and no other; idle threads do not
 *             keep the process running.
 * Never knows: what the work is.
 */
export { limitThreaded, type AskedBy } from "./limited.ts";
export { makeThreadPool } from "./pool.ts";
