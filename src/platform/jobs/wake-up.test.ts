import { expect, test } from "vitest";
import { makeWakeUp } from "./wake-up.ts";

const never = new AbortController().signal;
const timed = async (work: Promise<void>) => {
  const began = performance.now();
  await work;
  return performance.now() - began;
};

test("a wake-up ends the waiting", async () => {
  const wakeUp = makeWakeUp();
  setTimeout(wakeUp.wake, 10);
  expect(await timed(wakeUp.wait(5, never))).toBeLessThan(1000);
});

test("a wake-up while nobody waits ends the next waiting, once", async () => {
  const wakeUp = makeWakeUp();
  wakeUp.wake();
  wakeUp.wake();
  expect(await timed(wakeUp.wait(5, never))).toBeLessThan(100);
  expect(await timed(wakeUp.wait(0.05, never))).toBeGreaterThan(40);
});

test("an abort ends the waiting", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 10);
  expect(await timed(makeWakeUp().wait(5, stop.signal))).toBeLessThan(1000);
});
