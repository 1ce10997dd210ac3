import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeWakeUp } from "./wake-up.ts";

const never = new AbortController().signal;
// Longer than a test may take. Units: seconds.
const tooLong = 1_000_000;

test("a wake-up ends the waiting", async () => {
  const wakeUp = makeWakeUp();
  const waiting = wakeUp.wait(tooLong, never);
  wakeUp.wake();
  await waiting;
});

test("a wake-up while nobody waits ends the next waiting, once; an abort ends the other", async () => {
  const [wakeUp, stop] = [makeWakeUp(), new AbortController()];
  wakeUp.wake();
  wakeUp.wake();
  await wakeUp.wait(tooLong, never);
  let hasEnded = false;
  const waiting = wakeUp.wait(tooLong, stop.signal).then(() => (hasEnded = true));
  await setImmediate();
  expect(hasEnded).toBe(false);
  stop.abort();
  await waiting;
});
