import type { Caller } from "../concurrency/caller.ts";
import { makeGate, tooMuchWork } from "../concurrency/gate.ts";
import { setImmediate } from "node:timers/promises";

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

const itemsInSlice = 500;

const afterOthers: InTurn = async (part) => {
  await setImmediate();
  return part();
};

export async function mapInSlices<T, R>(items: readonly T[], work: (item: T) => R, inTurn = afterOthers): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += itemsInSlice) {
    const slice = items.slice(at, at + itemsInSlice);
    done.push(...(await inTurn(() => Promise.resolve(slice.map(work)))));
  }
  return done;
}

export async function stringifyInSlices(value: object, inTurn = afterOthers): Promise<string> {
  let text = "";
  for await (const piece of jsonInSlices(value, inTurn)) text += piece;
  return text;
}

export async function* jsonInSlices(value: object, inTurn = afterOthers): AsyncGenerator<string> {
  const isLong = (one: unknown): one is unknown[] => Array.isArray(one) && one.length > itemsInSlice;
  if (Array.isArray(value) || !Object.values(value).some(isLong)) return void (yield JSON.stringify(value));
  let before = "{";
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined) continue;
    before += `${JSON.stringify(name)}:`;
    if (isLong(one)) {
      for (let at = 0; at < one.length; at += itemsInSlice) {
        const slice = one.slice(at, at + itemsInSlice);
        const text = await inTurn(() => Promise.resolve(JSON.stringify(slice).slice(1, -1)));
        yield `${before}${at === 0 ? "[" : ","}${text}`;
        before = "";
      }
      before = "],";
    } else before += `${JSON.stringify(one)},`;
  }
  yield `${before.replace(/,$/, "")}}`;
}
