import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { CallerLeft, type Caller } from "../concurrency/caller.ts";
import { startExport, mapInSlices, stringifyInSlices } from "./exports.ts";

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
  const callers = [makeCaller(), makeCaller(), makeCaller()];
  const [ada, ben, cem] = callers.map((caller, n) => startExport({ by: ["ada", "ben", "cem"][n]!, caller }));
  const order: string[] = [];
  let underWay = 0;
  const part = (name: string) => async () => {
    expect(underWay++).toBe(0);
    await setImmediate();
    underWay--;
    order.push(name);
  };
  const given: Promise<void>[] = [];
  await cem!(async () => {
    given.push(...["a1", "a2", "a3"].map((name) => ada!(part(name))), ...["b1", "b2"].map((name) => ben!(part(name))));
  });
  await Promise.all(given);
  expect(order).toEqual(["a1", "b1", "a2", "b2", "a3"]);
  callers.forEach((caller) => caller.leave());
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

const long = Array.from({ length: 1201 }, (_, n) => ({ n, text: `"${n}"`, none: undefined }));

test.each([
  {},
  [1, 2],
  { a: 1, b: undefined, c: null, "d\n": [] },
  { before: "x", none: undefined, long, after: { long } },
  { a: long.slice(0, 1000), b: long.slice(0, 501), c: new Date(0) },
  { c: "x,", a: long, none: undefined },
])("a record is written as JSON.stringify writes it: %#", async (record) => {
  expect(await stringifyInSlices(record)).toBe(JSON.stringify(record));
});

test("each of a long list has its turn, in order", async () => {
  expect(await mapInSlices(long, ({ n }) => n * 2)).toEqual(long.map(({ n }) => n * 2));
});
