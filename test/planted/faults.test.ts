import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { faults } from "./faults.ts";

test("what each planted fault changes is in its file, and the tests that find it exist", () => {
  const gone = faults.filter(({ file, from }) => !existsSync(file) || !readFileSync(file, "utf8").includes(from));
  expect(gone.map(({ file, from }) => `${file}: ${from}`)).toEqual([]);
  expect(faults.flatMap(({ foundBy }) => foundBy).filter((file) => !existsSync(file))).toEqual([]);
});
