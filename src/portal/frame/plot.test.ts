import { expect, test } from "vitest";
import { drawLines, joinRest } from "./figures.ts";

test("the largest value stands below the top, zero at the bottom", () => {
  const { lines, rules } = drawLines([{ name: "a", values: [0, 7, 3] }]);
  expect(lines).toMatchObject([{ points: "44,156 197,53.8 350,112.2", total: 10 }]);
  expect(rules.map(({ value }) => value)).toEqual([0, 5, 10]);
});

test("nothing counted is a line at the bottom without marks", () => {
  expect(drawLines([{ name: "a", values: [0, 0] }]).lines).toMatchObject([{ points: "44,156 350,156", marks: "" }]);
});

test("what is more than five lines is put together", () => {
  const series = [1, 2, 3, 4, 5, 6].map((value) => ({ name: String(value), values: [value, value] }));
  expect(joinRest(series, "rest").map(({ name, values }) => [name, values[0]])).toEqual([
    ["6", 6],
    ["5", 5],
    ["4", 4],
    ["3", 3],
    ["rest", 3],
  ]);
});
