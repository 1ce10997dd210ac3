import { expect, test } from "vitest";
import { nextRunAfter, type Schedule } from "./schedule.ts";

const nightly: Schedule = { times: ["02:30"], daysOff: [], pauseFrom: null, pauseUntil: null };
const next = (schedule: Partial<Schedule>, now: string) =>
  nextRunAfter({ ...nightly, ...schedule }, new Date(now))?.toISOString() ?? null;

test("a run is at its time in Germany, in winter and in summer", () => {
  expect(next({}, "2026-02-03T01:29:00Z")).toBe("2026-02-03T01:30:00.000Z");
  expect(next({}, "2026-02-03T01:30:00Z")).toBe("2026-02-04T01:30:00.000Z");
  expect(next({}, "2026-07-03T01:30:00Z")).toBe("2026-07-04T00:30:00.000Z");
  expect(next({ times: ["23:15", "00:10"] }, "2026-02-03T12:00:00Z")).toBe("2026-02-03T22:15:00.000Z");
  expect(next({ times: ["23:15", "00:10"] }, "2026-02-03T22:15:00Z")).toBe("2026-02-03T23:10:00.000Z");
});

test("on the days of the changes of time a run is there once", () => {
  expect(next({}, "2026-03-29T00:00:00Z")).toBe("2026-03-29T01:30:00.000Z");
  expect(next({}, "2026-03-29T01:30:00Z")).toBe("2026-03-30T00:30:00.000Z");
  expect(next({}, "2026-10-24T22:00:00Z")).toBe("2026-10-25T00:30:00.000Z");
  expect(next({}, "2026-10-25T00:30:00Z")).toBe("2026-10-26T01:30:00.000Z");
});

test("days off and a pause are left out, also one of years", () => {
  expect(next({ daysOff: ["SATURDAY", "SUNDAY"] }, "2026-02-06T02:00:00Z")).toBe("2026-02-09T01:30:00.000Z");
  const pause = { pauseFrom: "2026-07-02", pauseUntil: "2026-08-12" };
  expect(next(pause, "2026-07-01T12:00:00Z")).toBe("2026-08-13T00:30:00.000Z");
  expect(next({ ...pause, pauseUntil: "2036-08-12" }, "2026-07-10T12:00:00Z")).toBe("2036-08-13T00:30:00.000Z");
  expect(next(pause, "2026-08-13T12:00:00Z")).toBe("2026-08-14T00:30:00.000Z");
});

test("without times there is no run", () => {
  expect(next({ times: [] }, "2026-02-03T01:29:00Z")).toBeNull();
});
