import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeBundle } from "./bundle.ts";

function makeCounting(options = { atOnce: 1, largest: 100, patienceMs: 1000 }) {
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
  const { ask, sent } = makeCounting({ atOnce: 2, largest: 2, patienceMs: 1000 });
  expect(await Promise.all([1, 2, 3, 4, 5].map(ask))).toEqual([2, 4, 6, 8, 10]);
  expect(sent.map(({ length }) => length)).toEqual([2, 2, 1]);
});

test("a failure reaches all of its bundle, and the next works", async () => {
  let fails = true;
  const ask = makeBundle(
    async (items: number[]) => {
      if (fails) throw new Error("down");
      return items;
    },
    { atOnce: 1, largest: 10, patienceMs: 1000 },
  );
  expect(await Promise.allSettled([ask(1), ask(2)])).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  fails = false;
  expect(await ask(3)).toBe(3);
});

test("an answer that takes long keeps nobody waiting, while there is room", async () => {
  const sent: number[][] = [];
  const answers: (() => void)[] = [];
  const ask = makeBundle(
    (items: number[]) =>
      new Promise<number[]>((resolve) => {
        sent.push(items);
        answers.push(() => resolve(items));
      }),
    { atOnce: 2, largest: 10, patienceMs: 5 },
  );
  const asked = [ask(1)];
  await sleep(20);
  asked.push(ask(2));
  await sleep(20);
  asked.push(ask(3), ask(4));
  await sleep(20);
  expect(sent).toEqual([[1], [2]]);
  answers[1]!();
  await sleep(5);
  expect(sent).toEqual([[1], [2], [3, 4]]);
  for (const answer of answers) answer();
  expect(await Promise.all(asked)).toEqual([1, 2, 3, 4]);
});
