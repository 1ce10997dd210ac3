import { expect, test } from "vitest";
import { gradeOfName, gradeOfNames } from "./classes.ts";

test.each([
  ["5a", 5],
  ["05a", 5],
  ["5 A", 5],
  ["5.2", 5],
  ["5/2", 5],
  ["3/4", 4],
  ["1-2b", 2],
  ["12/1", 12],
  ["Klasse 5a", 5],
  ["Kl. 7", 7],
  ["Jg. 10", 10],
  ["Jahrgang 13", 13],
  ["Jahrgangsstufe 9", 9],
  ["10b/c", 10],
  ["G8a", 8],
  ["R10", 10],
  ["E1", 11],
  ["EF", 11],
  ["E", 11],
  ["Q1", 12],
  ["Q2", 12],
  ["Q 2", 12],
  ["Q4", 13],
  ["Q2a", 12],
])("the class %s is of grade %i", (name, grade) => expect(gradeOfName(name)).toBe(grade));

test.each(["", "Chor", "Abi 2026", "2026", "0", "14", "99", "Englisch 5", "VKL", "Eulen", "Queens", "DaZ 1"])(
  "the class %j says no grade",
  (name) => expect(gradeOfName(name)).toBeNull(),
);

test("of several classes the highest grade counts", () => {
  expect(gradeOfNames(["5a", "Eulen", "6b"])).toBe(6);
  expect(gradeOfNames(["Eulen"])).toBeNull();
  expect(gradeOfNames([])).toBeNull();
});
