import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeBatch } from "./store.ts";

function makeCounting(options = { inParallel: 1, atOnce: 1, largest: 100, patienceMs: 1000 }) {
  const sent: number[][] = [];
  const ask = makeBatch(async (items: number[]) => {
    sent.push(items);
    await setImmediate();
    return items.map((item) => item * 2);
  }, options);
  return { ask, sent };
}

/** Ends when what is asked now is sent, if it may be. */
async function turn(): Promise<void> {
  for (let passed = 0; passed < 3; passed++) await setImmediate();
}

/** Each batch is answered when its function in `answers` is called. */
function makeHeldBatch(limits: Parameters<typeof makeBatch>[1]) {
  const sent: number[][] = [];
  const answers: (() => void)[] = [];
  const ask = makeBatch(
    (items: number[]) =>
      new Promise<number[]>((resolve) => {
        sent.push(items);
        answers.push(() => resolve(items));
      }),
    limits,
  );
  return { sent, answers, ask };
}

test("questions asked at once are sent together, and each gets its own answer", async () => {
  const { ask, sent } = makeCounting();
  expect(await Promise.all([1, 2, 3].map(ask))).toEqual([2, 4, 6]);
  expect(sent).toEqual([[1, 2, 3]]);
});

test("a question asked while a batch is running goes into the next batch", async () => {
  const { sent, answers, ask } = makeHeldBatch({ inParallel: 1, atOnce: 1, largest: 10, patienceMs: 60_000 });
  const asked = [ask(1)];
  await turn();
  expect(sent).toEqual([[1]]);
  asked.push(ask(2), ask(3));
  answers[0]!();
  await turn();
  expect(sent).toEqual([[1], [2, 3]]);
  answers[1]!();
  expect(await Promise.all(asked)).toEqual([1, 2, 3]);
});

test("a batch is never larger than allowed, and every question is answered", async () => {
  const { ask, sent } = makeCounting({ inParallel: 1, atOnce: 2, largest: 2, patienceMs: 1000 });
  expect(await Promise.all([1, 2, 3, 4, 5].map(ask))).toEqual([2, 4, 6, 8, 10]);
  expect(sent.map(({ length }) => length)).toEqual([2, 2, 1]);
});

test("a failure reaches every question of its batch, and the next batch works", async () => {
  let fails = true;
  const ask = makeBatch(
    async (items: number[]) => {
      if (fails) throw new Error("down");
      return items;
    },
    { inParallel: 1, atOnce: 1, largest: 10, patienceMs: 1000 },
  );
  expect(await Promise.allSettled([ask(1), ask(2)])).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  fails = false;
  expect(await ask(3)).toBe(3);
});

test("a slow batch does not hold up the next one, up to the limit", async () => {
  const { sent, answers, ask } = makeHeldBatch({ inParallel: 1, atOnce: 2, largest: 10, patienceMs: 5 });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = [ask(1)];
  await turn();
  expect(sent).toEqual([[1]]);
  asked.push(ask(2));
  await turn();
  expect(sent).toEqual([[1]]);
  vi.advanceTimersByTime(5);
  expect(sent).toEqual([[1], [2]]);
  asked.push(ask(3), ask(4));
  await turn();
  vi.advanceTimersByTime(5);
  expect(sent).toEqual([[1], [2]]);
  answers[1]!();
  await turn();
  expect(sent).toEqual([[1], [2], [3, 4]]);
  for (const answer of answers) answer();
  expect(await Promise.all(asked)).toEqual([1, 2, 3, 4]);
});

test("as many batches as allowed are under way, and what is asked meanwhile goes together into the next", async () => {
  const { sent, answers, ask } = makeHeldBatch({ inParallel: 2, atOnce: 4, largest: 10, patienceMs: 60_000 });
  const asked = [ask(1)];
  await turn();
  expect(sent).toEqual([[1]]);
  asked.push(ask(2));
  await turn();
  expect(sent).toEqual([[1], [2]]);
  asked.push(ask(3), ask(4));
  await turn();
  expect(sent).toEqual([[1], [2]]);
  answers[0]!();
  await turn();
  expect(sent).toEqual([[1], [2], [3, 4]]);
  for (const answer of answers) answer();
  expect(await Promise.all(asked)).toEqual([1, 2, 3, 4]);
});
