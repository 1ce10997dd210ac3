import { expect, test } from "vitest";
import { makeTimes } from "./zone.ts";

test.each([
  ["2026-02-03", 0, "2026-02-02T23:00:00.000Z"],
  ["2026-07-03", 1, "2026-07-03T22:00:00.000Z"],
  ["2026-03-29", 0, "2026-03-28T23:00:00.000Z"],
  ["2026-03-29", 1, "2026-03-29T22:00:00.000Z"],
])("in Berlin, %s and %i days later begins at %s", (day, later, start) => {
  expect(makeTimes("de", "Europe/Berlin").startOf(day, later)).toBe(start);
});

test("a day is written as a field of a form takes it, in the zone of its reader", () => {
  const { dayField } = makeTimes("de", "Europe/Berlin");
  expect(["2026-02-02T23:00:00.000Z", "2026-02-02T22:59:59.999Z", null].map(dayField)).toEqual([
    "2026-02-03",
    "2026-02-02",
    "",
  ]);
});

test("what is no day has no start", () => {
  const { startOf } = makeTimes("de", "America/New_York");
  expect([startOf(""), startOf("2026-13-45"), startOf("2026-02-03")]).toEqual([null, null, "2026-02-03T05:00:00.000Z"]);
});
