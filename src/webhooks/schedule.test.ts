import { expect, test } from "vitest";
import { choosePauseEnd, chooseRetry } from "./schedule.ts";

const now = new Date("2026-02-03T08:00:00Z");
const retrySeconds = [5, 300, 1800];
const delayOf = (tries: number, random = 0.5, retryAfter: string | null = null) => {
  const at = chooseRetry({ retrySeconds, tries, retryAfter, now, random });
  return at === null ? null : (at.getTime() - now.getTime()) / 1000;
};

test("three retries follow the first try, then no more", () => {
  expect([1, 2, 3, 4].map((tries) => delayOf(tries))).toEqual([5, 300, 1800, null]);
});

test.each([
  [1, 4, 6],
  [2, 240, 360],
  [3, 1440, 2160],
])("try %i is spread over a fifth either way", (tries, least, most) => {
  expect([delayOf(tries, 0), delayOf(tries, 1)]).toEqual([least, most]);
});

test("Retry-After never shortens, and lengthens to twice the delay at most", () => {
  expect(
    ["1", "7", "9999", "-5", "", "Tue, 03 Feb 2026 08:00:09 GMT", "Tue, 03 Feb 2025 08:00:09 GMT"].map((header) =>
      delayOf(1, 0.5, header),
    ),
  ).toEqual([5, 7, 10, 5, 5, 9, 5]);
});

test("a pause lasts as long as the failing so far, from half a minute to half an hour", () => {
  const pauseAfter = (seconds: number) =>
    (choosePauseEnd(new Date(now.getTime() - seconds * 1000), now).getTime() - now.getTime()) / 1000;
  expect([0, 29, 60, 1700, 1_000_000].map(pauseAfter)).toEqual([30, 30, 60, 1700, 1800]);
});
