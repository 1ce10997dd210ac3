import { Piscina, queueOptionsSymbol } from "piscina";
import { AppError } from "../errors.ts";
import { CallerLeft, type Caller } from "../concurrency/caller.ts";
import type { Sent } from "./run-task.ts";

export type Task = { module: URL; seconds: number };

export type ThreadData = { niceness: number };

/** Callers limit how many run. `niceness` works on Linux only. Errors: CallerLeft; unavailable timed_out. */
export function makeThreadPool({
  niceness = 0,
  memoryMb = 256,
  idleMs = 30_000,
}: { niceness?: number; memoryMb?: number; idleMs?: number } = {}) {
  /** Tasks that wait until a thread has started. */
  const waiting = new Set<AbortController>();
  const pool = new Piscina({
    filename: new URL("./thread.ts", import.meta.url).href,
    minThreads: 0,
    maxThreads: Infinity,
    idleTimeout: idleMs,
    atomics: "disabled",
    recordTiming: false,
    workerData: { niceness } satisfies ThreadData,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    loadBalancer(task, workers) {
      const thread = workers.find(({ currentUsage }) => currentUsage === 0) ?? null;
      if (thread !== null) waiting.delete(task[queueOptionsSymbol] as AbortController);
      return thread;
    },
  });
  // A thread did not start. If the task it was for stayed, piscina would start threads without end at the next task.
  pool.on("error", (error) => [...waiting].slice(0, pool.queueSize).forEach((end) => end.abort(error)));

  return async function run({ module, seconds }: Task, input: unknown, caller?: Caller): Promise<unknown> {
    if (caller?.hasLeft() === true) throw new CallerLeft();
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(timedOut(module)), seconds * 1000);
    const off = caller?.onLeave(() => end.abort(new CallerLeft()));
    waiting.add(end);
    try {
      const sent: Sent = { module: module.href, input };
      return await pool.run({ ...sent, [queueOptionsSymbol]: end }, { signal: end.signal });
    } catch (error) {
      end.signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      off?.();
      waiting.delete(end);
      // Removes a task for which no thread could be started.
      end.abort();
    }
  };
}

const timedOut = (module: URL) =>
  new AppError(
    "unavailable",
    "timed_out",
    "The service ended the work because it took too long. Nothing was changed.",
    `the work of ${module.pathname} took too long`,
  );
