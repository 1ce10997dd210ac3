// @module-tag slow
import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { limitThreaded, makeThreadPool } from "../../src/platform/threads/index.ts";
import type { Asked } from "./thread-work.ts";

const task = { module: new URL("./thread-work.ts", import.meta.url), seconds: 60 };

/** Somebody who waits for an answer until `leave` is called. */
function makeCaller() {
  const events = new EventEmitter();
  let left = false;
  return {
    hasLeft: () => left,
    onLeave: (listener: () => void) => {
      events.once("left", listener);
      return () => void events.off("left", listener);
    },
    leave() {
      left = true;
      events.emit("left");
    },
  };
}

const makeBeats = () => new Int32Array(new SharedArrayBuffer(4));

async function expectEnded(beats: Int32Array): Promise<void> {
  let last = -1;
  const rests = async () => {
    const now = Atomics.load(beats, 0);
    const isSame = now === last;
    last = now;
    await sleep(50);
    return isSame;
  };
  await expect.poll(rests).toBe(true);
}

describe("a pool of threads", () => {
  const run = makeThreadPool({ memoryMb: 64 });
  const ask = (asked: Omit<Asked, "n"> & { n?: number }, caller?: ReturnType<typeof makeCaller>) =>
    run(task, { n: 3, ...asked }, caller);

  test("does the work of several callers, each in a thread", async () => {
    const made = await Promise.all([1, 2, 3].map((n) => ask({ does: "square", n })));
    expect(made).toEqual([1, 4, 9]);
  });

  test("hands on what the work throws, and keeps the thread", async () => {
    await expect(ask({ does: "throw" })).rejects.toThrow(new RangeError("refused"));
    expect(await ask({ does: "square" })).toBe(9);
  });

  test.each(["exit", "fill memory"] as const)("to %s fails that work alone", async (does) => {
    const [failed, made] = await Promise.allSettled([ask({ does }), ask({ does: "square" })]);
    expect(failed).toMatchObject({ status: "rejected" });
    expect(made).toEqual({ status: "fulfilled", value: 9 });
    expect(await ask({ does: "square", n: 4 })).toBe(16);
  });

  test("ends what takes too long, with a refusal", async () => {
    const beats = makeBeats();
    const asked: Asked = { does: "run on", n: 1, beats };
    await expect(run({ ...task, seconds: 0.5 }, asked)).rejects.toMatchObject({
      kind: "unavailable",
      code: "timed_out",
    });
    await expectEnded(beats);
  });

  test("ends the work for a caller who leaves, and begins none for one who has left", async () => {
    const beats = makeBeats();
    const caller = makeCaller();
    const made = ask({ does: "run on", beats }, caller);
    await expect.poll(() => Atomics.load(beats, 0)).toBeGreaterThan(0);
    caller.leave();
    await expect(made).rejects.toMatchObject({ name: "CallerLeft" });
    await expectEnded(beats);
    await expect(ask({ does: "square" }, caller)).rejects.toMatchObject({ name: "CallerLeft" });
  });

  test("fails work at once whose thread cannot start, and starts one for the next", async () => {
    const small = makeThreadPool({ memoryMb: 4 });
    for (const n of [1, 2])
      await expect(small(task, { does: "square", n })).rejects.toMatchObject({ code: "ERR_WORKER_OUT_OF_MEMORY" });
    const both = [small(task, { does: "square", n: 3 }), small(task, { does: "square", n: 4 })];
    expect(await Promise.allSettled(both)).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  });

  test("ends a thread that has no work, and starts another when there is some", async () => {
    const resting = makeThreadPool({ idleMs: 1 });
    expect(await resting(task, { does: "square", n: 5 })).toBe(25);
    await sleep(100);
    expect(await resting(task, { does: "square", n: 6 })).toBe(36);
  });
});

test("a person has one at work and one that waits of each kind of work, and others have their turn", async () => {
  const square = limitThreaded<Asked, number>(task);
  const endless = { does: "run on", n: 1, beats: makeBeats() } as const;
  const callers = [makeCaller(), makeCaller(), makeCaller()];
  const begun = callers.slice(0, 2).map((caller) => square(endless, { by: "one", caller }));
  await expect(square(endless, { by: "one", caller: callers[2]! })).rejects.toMatchObject({
    kind: "rate_limited",
    code: "too_many_requests",
  });
  const other = square({ does: "square", n: 7 }, { by: "two", caller: makeCaller() });
  callers.forEach((caller) => caller.leave());
  for (const work of begun) await expect(work).rejects.toMatchObject({ name: "CallerLeft" });
  expect(await other).toBe(49);
  expect(await square({ does: "square", n: 8 }, { by: "one", caller: makeCaller() })).toBe(64);
});
