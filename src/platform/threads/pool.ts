import { Worker } from "node:worker_threads";
import { AppError } from "../errors.ts";
import { CallerLeft, type Caller } from "../concurrency/caller.ts";
import type { Reply, Sent } from "./run-task.ts";

export type Task = { module: URL; seconds: number };

export type ThreadData = { niceness: number };

type Thread = {
  worker: Worker;
  work: PromiseWithResolvers<Reply>;
  end?: NodeJS.Timeout;
};

/** Callers limit how many run. `niceness` works on Linux only. Errors: CallerLeft; unavailable timed_out. */
export function makeThreadPool({
  niceness = 0,
  memoryMb = 256,
  idleMs = 30_000,
}: { niceness?: number; memoryMb?: number; idleMs?: number } = {}) {
  const idle = new Set<Thread>();

  function start(): Thread {
    const worker = new Worker(new URL("./thread.ts", import.meta.url), {
      workerData: { niceness } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const thread: Thread = { worker, work: Promise.withResolvers() };
    const drop = (error: Error) => {
      clearTimeout(thread.end);
      idle.delete(thread);
      thread.work.reject(error);
    };
    worker.on("message", (reply: Reply) => thread.work.resolve(reply));
    worker.on("messageerror", drop).on("error", drop);
    worker.on("exit", () => drop(new Error("A thread ended before its work.")));
    return thread;
  }

  function wake(): Thread {
    const thread = [...idle].at(-1) ?? start();
    clearTimeout(thread.end);
    idle.delete(thread);
    thread.worker.ref();
    return thread;
  }

  function rest(thread: Thread): void {
    thread.work = Promise.withResolvers();
    // Nobody awaits an idle thread.
    thread.work.promise.catch(() => undefined);
    thread.end = setTimeout(() => void thread.worker.terminate(), idleMs).unref();
    thread.worker.unref();
    idle.add(thread);
  }

  return async function run({ module, seconds }: Task, input: unknown, caller?: Caller): Promise<unknown> {
    if (caller?.hasLeft() === true) throw new CallerLeft();
    const thread = wake();
    const { promise, reject } = thread.work;
    const timer = setTimeout(() => reject(timedOut(module)), seconds * 1000);
    const off = caller?.onLeave(() => reject(new CallerLeft()));
    try {
      thread.worker.postMessage({ module: module.href, given: input } satisfies Sent);
      const reply = await promise;
      rest(thread);
      if ("error" in reply) throw reply.error;
      return reply.made;
    } finally {
      clearTimeout(timer);
      off?.();
      if (!idle.has(thread)) void thread.worker.terminate();
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
