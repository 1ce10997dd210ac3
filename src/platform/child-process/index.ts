/*
 * child-process: work on content of others, which may take any amount of memory or time.
 *
 * Nouns:      task (a module that runs in a child), child (a process with one piece of work at a time), pool.
 * Invariants: a child has limits of memory and time, and none of the service's environment; its end fails its work and
 *             nothing else; a failure, the caller's signal and the end of the process that started it end it.
 * Never knows: what the work is.
 */
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { makeUnavailable } from "../errors.ts";
import type { Task } from "../threads/pool.ts";
import type { Sent } from "../threads/run-task.ts";

/** The child ended before its work. */
export class ChildEnded extends Error {
  readonly why: "memory" | "time" | "crash";

  constructor(why: ChildEnded["why"], module: URL) {
    super(`The work of ${module.pathname} ended early: ${why}.`);
    this.name = "ChildEnded";
    this.why = why;
  }
}

const program = fileURLToPath(new URL("./child.ts", import.meta.url));

export type Reply = { made: unknown } | { error: unknown };

/** A child whose memory `isLarge` does no other work. */
export type Finished = { reply: Reply; isLarge: boolean };

type Child = {
  process: ChildProcess;
  /** Whether it was killed: by its watchdog, by V8 or by the system, each because of its memory. */
  ended: Promise<boolean>;
  rest?: NodeJS.Timeout;
};

/**
 * Keeps idle children for a while, because one starts in 0.1 s. Callers limit how many run. When a call fails, its
 * child has ended. Units: memoryMb limits the whole process.
 *
 * Errors: those of the work, without their properties; ChildEnded; the signal's reason; unavailable if none starts.
 */
export function makeChildPool({ memoryMb, idleMs = 30_000 }: { memoryMb: number; idleMs?: number }) {
  const idle = new Set<Child>();

  function wake(): Child {
    const child = [...idle].at(-1) ?? start(memoryMb);
    clearTimeout(child.rest);
    idle.delete(child);
    child.process.ref();
    child.process.channel?.ref();
    return child;
  }

  function rest(child: Child): void {
    child.rest = setTimeout(() => child.process.kill("SIGKILL"), idleMs).unref();
    child.process.unref();
    child.process.channel?.unref();
    idle.add(child);
    void child.ended.finally(() => idle.delete(child)).catch(() => undefined);
  }

  return async function run<Input, Made>(
    { module, seconds }: Task,
    params: Input,
    signal?: AbortSignal,
  ): Promise<Made> {
    signal?.throwIfAborted();
    const child = wake();
    const { promise, resolve, reject } = Promise.withResolvers<Finished>();
    const abort = () => reject(signal!.reason as Error);
    const timer = setTimeout(() => reject(new ChildEnded("time", module)), seconds * 1000);
    signal?.addEventListener("abort", abort, { once: true });
    child.process.once("message", resolve as (finished: unknown) => void);
    child.ended.then((wasKilled) => reject(new ChildEnded(wasKilled ? "memory" : "crash", module)), reject);
    child.process.send({ module: module.href, input: params } satisfies Sent, () => undefined);
    let finished: Finished | undefined;
    try {
      finished = await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      if (finished === undefined || finished.isLarge || "error" in finished.reply) {
        child.process.kill("SIGKILL");
        await child.ended.catch(() => undefined);
      } else rest(child);
    }
    const { reply } = finished;
    if ("error" in reply) throw reply.error;
    return reply.made as Made;
  };
}

function start(memoryMb: number): Child {
  try {
    const process = fork(program, [String(globalThis.process.pid), String(memoryMb)], {
      // The watchdog ends the child before V8 does, which may write a core file.
      execArgv: [`--max-old-space-size=${memoryMb}`],
      // Without the secrets of the service.
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const ended = new Promise<boolean>((resolve, reject) => {
      process.once("error", (cause) => reject(notStarted(cause)));
      process.once("exit", (_code, signal) => resolve(signal === "SIGKILL" || signal === "SIGABRT"));
    });
    return { process, ended };
  } catch (cause) {
    throw notStarted(cause);
  }
}

const notStarted = (cause: unknown) => makeUnavailable("no child process starts", { cause });
