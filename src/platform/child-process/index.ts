/**
 * child-process: work on content of others, which may take any amount of memory or time.
 *
 * Nouns:      task (a module that runs in a child), child (a process with one piece of work at a time), pool.
 * Invariants: a child has limits of memory and time, and none of the service's environment; its end fails its work and
 *             nothing else; a failure, the caller's signal and the end of the process that started it end it.
 * Never knows: what the work is.
 */
export { ChildEnded, makeChildPool } from "./run.ts";
