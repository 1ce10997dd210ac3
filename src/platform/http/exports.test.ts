import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { CallerLeft, type Caller } from "../concurrency/caller.ts";
import { startExport } from "./exports.ts";

function makeCaller(): Caller & { leave(): void } {
  const [leaving, state] = [new EventEmitter(), { left: false }];
  return {
    hasLeft: () => state.left,
    onLeave(listener) {
      leaving.once("leave", listener);
      return () => leaving.off("leave", listener);
    },
    leave() {
      state.left = true;
      leaving.emit("leave");
    },
  };
}

test("one part of all exports is done at a time, and those who export take turns", async () => {
  const [ada, ben] = [makeCaller(), makeCaller()];
  const [first, second] = [startExport({ by: "ada", caller: ada }), startExport({ by: "ben", caller: ben })];
  const order: string[] = [];
  let underWay = 0;
  const part = (name: string) => async () => {
    expect(underWay++).toBe(0);
    await setImmediate();
    underWay--;
    order.push(name);
  };
  await Promise.all([first(part("a1")), first(part("a2")), first(part("a3")), second(part("b1")), second(part("b2"))]);
  expect(order).toEqual(["a1", "a2", "b1", "a3", "b2"]);
  ada.leave();
  ben.leave();
});

test("a person has two exports at a time, and another one when an answer was given", () => {
  const callers = [makeCaller(), makeCaller(), makeCaller()];
  const [first, second, third] = callers.map((caller) => () => startExport({ by: "kim", caller }));
  first!();
  second!();
  expect(third).toThrow(expect.objectContaining({ kind: "rate_limited", code: "too_many_requests" }));
  callers[0]!.leave();
  third!();
  callers.forEach((caller) => caller.leave());
});

test("a part that fails gives the turn to the next; who has left gets none", async () => {
  const caller = makeCaller();
  const inTurn = startExport({ by: "eve", caller });
  await expect(inTurn(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await inTurn(() => Promise.resolve(1))).toBe(1);
  const waiting = inTurn(() => Promise.resolve(2));
  caller.leave();
  await expect(waiting).rejects.toThrow(CallerLeft);
  await expect(inTurn(() => Promise.resolve(3))).rejects.toThrow(CallerLeft);
});
