import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeBundle } from "./bundle.ts";

function makeCounting(options = { atOnce: 1, largest: 100 }) {
  const sent: number[][] = [];
  const ask = makeBundle(async (items: number[]) => {
    sent.push(items);
    await sleep(5);
    return items.map((item) => item * 2);
  }, options);
  return { ask, sent };
}

test("what is asked in one go is sent together, and everybody gets their own answer", async () => {
  const { ask, sent } = makeCounting();
  expect(await Promise.all([1, 2, 3].map(ask))).toEqual([2, 4, 6]);
  expect(sent).toEqual([[1, 2, 3]]);
});

test("who asks while a question is under way gets an answer that was asked for afterwards", async () => {
  const { ask, sent } = makeCounting();
  const first = ask(1);
  await sleep(1);
  expect(await Promise.all([first, ask(2), ask(3)])).toEqual([2, 4, 6]);
  expect(sent).toEqual([[1], [2, 3]]);
});

test("a bundle is never larger than allowed, and nobody is forgotten", async () => {
  const { ask, sent } = makeCounting({ atOnce: 2, largest: 2 });
  expect(await Promise.all([1, 2, 3, 4, 5].map(ask))).toEqual([2, 4, 6, 8, 10]);
  expect(sent.map(({ length }) => length)).toEqual([2, 2, 1]);
});

test("a failure reaches all of its bundle, and the next works", async () => {
  let fails = true;
  const ask = makeBundle(async (items: number[]) => {
    if (fails) throw new Error("down");
    return items;
  }, { atOnce: 1, largest: 10 });
  expect(await Promise.allSettled([ask(1), ask(2)])).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  fails = false;
  expect(await ask(3)).toBe(3);
});
