import { expect, test } from "vitest";
import { addMonths, dayOf, daysBetween, isDay, isInstant } from "./clock.ts";

test.each([
  ["2026-02-03", 1, "2026-03-03"],
  ["2026-01-31", 1, "2026-02-28"],
  ["2028-01-31", 1, "2028-02-29"],
  ["2026-11-30", 3, "2027-02-28"],
  ["2026-12-31", 1, "2027-01-31"],
])("%s and %i months are %s", (day, months, expected) => {
  expect(addMonths(day, months)).toBe(expected);
});

test("days are those of the schools, whatever daylight saving does", () => {
  expect(dayOf(new Date("2026-02-03T23:30:00Z"))).toBe("2026-02-04");
  expect(daysBetween("2026-03-28", "2026-03-30")).toBe(2);
  expect(daysBetween("2026-03-03", "2026-02-03")).toBe(-28);
});

test("a day is one of the calendar", () => {
  const good = ["2026-02-28", "2028-02-29"];
  const bad = ["2026-02-29", "2026-11-31", "2026-13-01", "2026-1-1", "2026-02-28Z", "0000-01-01", ""];
  expect([...good, ...bad].filter(isDay)).toEqual(good);
});

test("an instant is a time that there is, in a year that PostgreSQL has and four digits name", () => {
  const good = ["2026-02-03T08:00:00Z", "2026-02-03t08:00:00.123456+01:00", "0001-01-01T00:00:00Z"];
  const bad = [
    ...["2026-19-39T29:69:69Z", "2026-02-30T00:00:00Z", "2026-12-31T23:59:60Z", "2026-02-03T08:00:00", "2026-02-03"],
    ...["0000-12-31T00:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "+300000-01-01T00:00:00Z"],
    "",
  ];
  expect([...good, ...bad].filter(isInstant)).toEqual(good);
});
