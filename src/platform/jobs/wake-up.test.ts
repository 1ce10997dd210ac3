import { expect, test } from "vitest";
import { makeWakeUp } from "./wake-up.ts";

const never = new AbortController().signal;
// Longer than a test may take. Units: seconds.
const tooLong = 1_000_000;

test("a wake-up ends the waiting", async () => {
  const wakeUp = makeWakeUp();
  setTimeout(wakeUp.wake, 10);
  await wakeUp.wait(tooLong, never);
});

test("a wake-up while nobody waits ends the next waiting, once", async () => {
  const wakeUp = makeWakeUp();
  wakeUp.wake();
  wakeUp.wake();
  await wakeUp.wait(tooLong, never);
  const began = performance.now();
  await wakeUp.wait(0.05, never);
  expect(performance.now() - began).toBeGreaterThan(40);
});

test("an abort ends the waiting", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 10);
  await makeWakeUp().wait(tooLong, stop.signal);
});
