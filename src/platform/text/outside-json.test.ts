import { expect, test } from "vitest";
import { findJsonExcess } from "./outside-json.ts";

test.each([
  ["values", `[${"1,".repeat(10)}1]`],
  ["lists in lists, which need no comma", `[${"[".repeat(11)}${"]".repeat(11)}]`],
  ["objects in objects", `${'{"":'.repeat(11)}1${"}".repeat(11)}`],
])("too many %s are too costly to parse", (_what, json) => {
  expect(findJsonExcess(Buffer.from(json), 10)).toBe("has more than 10 values");
});

test.each([`["${"[,{".repeat(20)}"]`, `[${"1,".repeat(9)}1]`, `[${"{},".repeat(7)}{}]`])("%s is not", (json) => {
  expect(findJsonExcess(Buffer.from(json), 10)).toBeNull();
});
