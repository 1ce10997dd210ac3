import cluster from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../telemetry/log.ts";

export type Process<Plan> = { plan: Plan; call: ProcessCall };
type RunningProcess<Plan> = Process<Plan> & {
  startedAt: number;
  isWorking: boolean;
  ended: Promise<{ code: number | null; signal: string | null }>;
  /** Asks it to close its ports, which this process holds, and to end after its running requests. */
  stop(): void;
  kill(): void;
};

type Options<Plan> = {
  program: string;
  plans: readonly Plan[];
  log: Log;
  answers: ProcessAnswers;
  begin(process: Process<Plan>): Promise<void>;
  onEnded(process: Process<Plan>): void;
};

export type Processes<Plan> = {
  first: readonly Process<Plan>[];
  keepRunning(): void;
  working(): Process<Plan>[];
  stop(graceSeconds: number): Promise<void>;
};

const waitMs = { least: 200, most: 30_000 };
const soundMs = 60_000;

/** Replaces processes that end, with growing delays. The call `stop` asks them to end. */
export function openProcesses<Plan extends { name: string }>(options: Options<Plan>): Processes<Plan> {
  const { log } = options;
  const stopping = new AbortController();
  cluster.setupPrimary({ exec: options.program, args: [], serialization: "advanced" });
  const slots = options.plans.map((plan) => ({ current: fork(plan, options) }));

  async function replaceForEver(slot: { current: RunningProcess<Plan> }): Promise<void> {
    for (let wait = waitMs.least; ; wait = Math.min(wait * 2, waitMs.most)) {
      const { plan, ended, startedAt } = slot.current;
      const how = await ended;
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > soundMs) wait = waitMs.least;
      log.error({ ended: plan.name, ...how, waitMs: wait }, "a process ended and is replaced");
      await sleep(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      const next = (slot.current = fork(plan, options));
      await options.begin(next).then(
        () => (next.isWorking = true),
        (err: unknown) => {
          if (!stopping.signal.aborted) log.error({ err, failed: plan.name }, "a process did not start");
          next.kill();
        },
      );
    }
  }

  return {
    first: slots.map(({ current }) => current),
    keepRunning() {
      for (const slot of slots) {
        slot.current.isWorking = true;
        void replaceForEver(slot);
      }
    },
    working: () => slots.map(({ current }) => current).filter(({ isWorking }) => isWorking),
    async stop(graceSeconds) {
      stopping.abort();
      await Promise.all(slots.map(({ current }) => endProcess(current, graceSeconds)));
    },
  };
}

async function endProcess({ isWorking, stop, ended, kill }: RunningProcess<{ name: string }>, graceSeconds: number) {
  if (!isWorking) kill();
  const late = setTimeout(kill, graceSeconds * 1000);
  stop();
  await ended;
  clearTimeout(late);
}

function fork<Plan>(plan: Plan, { answers, onEnded }: Options<Plan>): RunningProcess<Plan> {
  const worker = cluster.fork();
  const running: RunningProcess<Plan> = {
    plan,
    call: connectProcess(worker.process, answers),
    startedAt: performance.now(),
    isWorking: false,
    ended: new Promise((resolve) =>
      worker.once("exit", (code: number | null, signal: string | null) => {
        running.isWorking = false;
        onEnded(running);
        resolve({ code, signal });
      }),
    ),
    stop() {
      void running.call("stop").catch(() => undefined);
      // Ends the ports here at once. A connection on its way to a process that closes them itself would stay open.
      worker.disconnect();
    },
    kill: () => void worker.process.kill("SIGKILL"),
  };
  return running;
}

type Channel = {
  send?(
    message: unknown,
    sendHandle?: undefined,
    options?: undefined,
    callback?: (error: Error | null) => void,
  ): boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
  once(event: "disconnect", listener: () => void): unknown;
};

type Message =
  | { kind: "call"; id: number; name: string; input: unknown }
  | { kind: "value"; id: number; value: unknown }
  | { kind: "error"; id: number; error: unknown };

type ProcessAnswers = Record<string, (input: never) => unknown>;

type ProcessCall = (name: string, input?: unknown) => Promise<unknown>;

export function connectProcess(channel: Channel, answers: ProcessAnswers): ProcessCall {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;

  const send = (message: Message, onFailed: (error: Error) => void = () => undefined) =>
    channel.send?.(message, undefined, undefined, (error) => error && onFailed(error));
  async function answer({ id, name, input }: Extract<Message, { kind: "call" }>): Promise<void> {
    try {
      send({ kind: "value", id, value: await answers[name]!(input as never) });
    } catch (error) {
      send({ kind: "error", id, error });
    }
  }
  channel.on("message", (received) => {
    const message = received as Message;
    if (message.kind === "call") return void answer(message);
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === "value") call?.resolve(message.value);
    else call?.reject(message.error as Error);
  });
  channel.once("disconnect", () => {
    for (const { reject } of waiting.values()) reject(new Error("the other process has ended"));
    waiting.clear();
  });

  return (name, input) => {
    const call = Promise.withResolvers<unknown>();
    const id = ++lastId;
    waiting.set(id, call);
    send({ kind: "call", id, name, input }, (error) => {
      waiting.delete(id);
      call.reject(error);
    });
    return call.promise;
  };
}
