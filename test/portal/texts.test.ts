import { globSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { checkArea } from "../support/page-texts.ts";

const frame = "src/portal/frame";
const areas = globSync("src/portal/*/templates")
  .map((folder) => dirname(folder))
  .filter((folder) => folder !== frame)
  .sort();

test("there are areas", () => {
  expect(areas).toContain("src/portal/today");
});

test.each(areas)("%s has its texts in both languages and its templates, and uses all of them", (folder) => {
  expect(checkArea(folder, { shared: [frame] })).toEqual([]);
});

test("so has the frame", () => {
  expect(checkArea(frame, { users: areas })).toEqual([]);
});
