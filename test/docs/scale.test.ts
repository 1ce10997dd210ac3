import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { kindNames, kinds } from "../../bench/scale/kinds.ts";
import { head } from "../../bench/scale/row.ts";

test("the table of the sizing page has the columns and rows that `npm run bench -- scale` prints", () => {
  const page = readFileSync("docs/scale.md", "utf8");
  const [names, , ...rows] = /^\| What \| CPU \|.*(?:\n\|.*)*/m
    .exec(page)![0]
    .split("\n")
    .map((line) => line.split(" | "));
  expect(names!.map((name) => name.replaceAll(/^\| | \|$/g, ""))).toEqual(head);
  expect(rows.map(([what]) => what!.slice(2))).toEqual(kindNames.map((name) => kinds[name].what));
});
