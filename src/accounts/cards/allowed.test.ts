import { expect, test } from "vitest";
import { findCardRefusal } from "./allowed.ts";
import type { CardSettings } from "./settings.ts";

const settings: CardSettings = {
  enabled: true,
  grades: null,
  hours: null,
  networks: [],
  secondStep: "NONE",
  printSecondStep: false,
  pictureCodeUpToGrade: null,
  classLists: false,
};
const use = { grade: 5, at: new Date("2026-02-03T08:00:00Z"), address: "192.0.2.7" };

test("cards that are switched on sign in everywhere and always", () => {
  expect(findCardRefusal(settings, use)).toBeNull();
  expect(findCardRefusal({ ...settings, enabled: false }, use)).toBe("disabled");
});

test("somebody without a grade is in none of the grades", () => {
  const some = { ...settings, grades: [5, 6] };
  expect([5, 6, 7, null].map((grade) => findCardRefusal(some, { ...use, grade }))).toEqual([
    null,
    null,
    "grade",
    "grade",
  ]);
});

test.each([
  ["2026-02-03T05:59:59Z", "hours"],
  ["2026-02-03T06:00:00Z", null],
  ["2026-02-03T15:29:59Z", null],
  ["2026-02-03T15:30:00Z", "hours"],
  ["2026-07-07T05:00:00Z", null],
  ["2026-07-07T14:30:00Z", "hours"],
  ["2026-02-07T09:00:00Z", "hours"],
  ["2026-02-02T23:30:00Z", "hours"],
])("at %s by the clock of Berlin, with its summer time: %s", (at, refusal) => {
  const hours = { from: "07:00", to: "16:30", weekdays: [1, 2, 3, 4, 5] };
  expect(findCardRefusal({ ...settings, hours }, { ...use, at: new Date(at) })).toBe(refusal);
});

test.each([
  ["192.0.2.7", null],
  ["::ffff:192.0.2.7", null],
  ["192.0.3.7", "network"],
  ["2001:db8:1:2::7", null],
  ["2001:db9::7", "network"],
  ["", "network"],
])("from %s: %s", (address, refusal) => {
  const networks = ["192.0.2.0/24", "2001:db8::/32"];
  expect(findCardRefusal({ ...settings, networks }, { ...use, address })).toBe(refusal);
});
