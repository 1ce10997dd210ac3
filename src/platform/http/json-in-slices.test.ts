import { expect, test } from "vitest";
import { mapInSlices, stringifyInSlices } from "./json-in-slices.ts";

const long = Array.from({ length: 1201 }, (_, n) => ({ n, text: `"${n}"`, none: undefined }));

test.each([
  {},
  [1, 2],
  { a: 1, b: undefined, c: null, "d\n": [] },
  { before: "x", none: undefined, long, after: { long } },
  { a: long.slice(0, 1000), b: long.slice(0, 501), c: new Date(0) },
  { c: "x,", a: long, none: undefined },
])("a record is written as JSON.stringify writes it: %#", async (record) => {
  expect(await stringifyInSlices(record)).toBe(JSON.stringify(record));
});

test("each of a long list has its turn, in order", async () => {
  expect(await mapInSlices(long, ({ n }) => n * 2)).toEqual(long.map(({ n }) => n * 2));
});
