import { expect, test } from "vitest";
import { longestTurnSeconds, PasswordQueue } from "./password-queue.ts";

let clock: number;
const makeQueue = (atOnce: number, tookMs: number): { queue: PasswordQueue; measured: Promise<unknown> } => {
  clock = 0;
  const queue = new PasswordQueue(
    { atOnce, waiting: 1000 },
    () => clock,
    () => 0.5,
  );
  return { queue, measured: queue.run(() => Promise.resolve((clock += tookMs)), 0) };
};
const hold = (queue: PasswordQueue, count: number, longestMs = 5000) =>
  Array.from({ length: count }, () => {
    const gate = Promise.withResolvers<string>();
    return { ...gate, answer: queue.run(() => gate.promise, longestMs) };
  });

test.each([
  { tookMs: 20, atOnce: 2, admitted: 502 },
  { tookMs: 1000, atOnce: 1, admitted: 6 },
  { tookMs: 8000, atOnce: 1, admitted: 1 },
])("as many wait as get their turn within 5 s: $atOnce at once, $tookMs ms each", async (given) => {
  const { queue, measured } = makeQueue(given.atOnce, given.tookMs);
  await measured;
  const held = hold(queue, given.admitted);
  expect(queue.waitMs()).toBeGreaterThan(5000);
  expect(await queue.run(() => Promise.resolve("late"), 5000)).toBe("full");
  for (const { resolve } of held) resolve("done");
  expect(await Promise.all(held.map(({ answer }) => answer))).toEqual(held.map(() => "done"));
  expect(queue.waitMs()).toBe(0);
  expect(await queue.run(() => Promise.resolve("again"), 5000)).toBe("again");
});

test("before a check has been measured, only few wait for it", async () => {
  const queue = new PasswordQueue({ atOnce: 1, waiting: 1000 }, () => 0);
  const held = hold(queue, 100);
  expect((await Promise.all(held.slice(26).map(({ answer }) => answer))).every((answer) => answer === "full")).toBe(
    true,
  );
  for (const { resolve } of held) resolve("done");
  expect((await Promise.all(held.slice(0, 26).map(({ answer }) => answer))).every((answer) => answer === "done")).toBe(
    true,
  );
});

test("a check that does not end makes the wait longer", async () => {
  const { queue, measured } = makeQueue(1, 20);
  await measured;
  const [stuck] = hold(queue, 1);
  await Promise.resolve();
  clock += 6000;
  expect(queue.waitMs()).toBe(6000);
  stuck!.resolve("done");
  await stuck!.answer;
});

test("who has a turn may wait longer than a newcomer", async () => {
  const { queue, measured } = makeQueue(1, 1000);
  await measured;
  const held = hold(queue, 6);
  const returned = queue.run(() => Promise.resolve("returned"), 15_000);
  for (const { resolve } of held) resolve("done");
  expect(await returned).toBe("returned");
});

test("turns follow each other at the pace of the checks, and far ones are spread", async () => {
  const { queue, measured } = makeQueue(2, 1000);
  await measured;
  const first = Array.from({ length: 10 }, () => queue.giveTurnMs());
  expect([first[0], first[1], first[9]]).toEqual([3000, 3500, 7500]);
  clock += 2000;
  expect(queue.giveTurnMs()).toBe(6000);
  const turns = Array.from({ length: 500 }, () => queue.giveTurnMs());
  expect(Math.max(...turns)).toBeLessThanOrEqual(longestTurnSeconds * 1000);
  expect(turns.at(-1)).toBe(longestTurnSeconds * 750);
  clock += 120_000;
  expect(queue.giveTurnMs()).toBe(3000);
});
