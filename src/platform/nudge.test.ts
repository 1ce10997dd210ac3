import { expect, test } from "vitest";
import { makeNudge } from "./nudge.ts";

const never = new AbortController().signal;
const timed = async (work: Promise<void>) => {
  const began = performance.now();
  await work;
  return performance.now() - began;
};

test("a nudge wakes whoever waits", async () => {
  const nudge = makeNudge();
  setTimeout(nudge.wake, 10);
  expect(await timed(nudge.wait(5, never))).toBeLessThan(1000);
});

test("a nudge that nobody waited for wakes the next one, once", async () => {
  const nudge = makeNudge();
  nudge.wake();
  nudge.wake();
  expect(await timed(nudge.wait(5, never))).toBeLessThan(100);
  expect(await timed(nudge.wait(0.05, never))).toBeGreaterThan(40);
});

test("an abort ends the waiting", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 10);
  expect(await timed(makeNudge().wait(5, stop.signal))).toBeLessThan(1000);
});
