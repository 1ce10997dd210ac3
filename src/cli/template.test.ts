import { expect, test } from "vitest";
import { fill, fillData, fillLines, fillRows, pathsIn } from "./template.ts";

const answer = {
  people: 1,
  into: { name: "5b" },
  scopes: ["a", "b"],
  groups: [{ id: "x" }, { id: "y" }],
  latest: "y",
  faults: [{ count: 2 }, { count: 10 }],
  sync: false,
  state: "AT_ONCE",
  at: "2026-02-03T08:00:05Z",
};
const sent = { note: "$people", into: null, empty: [], nothing: null };

test.each<[template: string, printed: string | null]>([
  ["$people(person/people) moved to $into.name.", "1 person moved to 5b."],
  ["Sync: $sync(on/off)", "Sync: off"],
  ["$scopes:words", "a b"],
  ["$scopes:commas", "a,b"],
  ["$scopes:size of them", "2 of them"],
  ["$faults.count:sum of them", "12 of them"],
  ["$empty:sum", "0"],
  ["$groups.id", "x, y"],
  ["$nothing|into.name", "5b"],
  ["$empty", "none"],
  ["$nothing", null],
  ["$people and $nothing", "1 and –"],
  ["No value", "No value"],
  ["$groups{<$id> of $into.name}", "<x> of 5b, <y> of 5b"],
  ["$missing{$id}", "none"],
  ["$groups{[id=y?$id]}", "y"],
  ["$groups{$id[id=$latest? (latest)][!id=$latest?, older]}", "x, older, y (latest)"],
  ["$empty+scopes:words", "a b"],
  ["$state:lower", "at once"],
  ["$at:minute", "2026-02-03T08:00"],
  ["Moved[ to $into.name][ for $nothing][ by $empty].", "Moved to 5b."],
  ["[sync?on][!sync?off][state=AT_ONCE? now][!state=AT_ONCE? later]", "off now"],
  ["[into?$people[, $nothing]] [really]", "1 really"],
  ["[$nothing]", null],
  ["a] b} $5 c", "a] b} $5 c"],
])("%s is printed as %s", (template, printed) => {
  expect(fill(template, [answer, sent])).toBe(printed);
});

test("a value that looks like a template is printed as it is", () => {
  expect(fill("Note: $note", [answer, sent])).toBe("Note: $people");
  expect(fill("[Note: $note]", [{ note: "[$people]" }])).toBe("Note: [$people]");
});

test("a line is left out with what it says, or stands for each item of a list", () => {
  const linesOf = (template: string) => fillLines(template, [answer, sent]);
  expect(linesOf("[Gone: $nothing]")).toEqual([]);
  expect(linesOf("$nothing")).toEqual(["–"]);
  expect(linesOf("")).toEqual([""]);
  expect(linesOf("$groups{Group $id.}")).toEqual(["Group x.", "Group y."]);
  expect(linesOf("$people{$id}")).toEqual([]);
  expect(linesOf("All: $groups{$id}")).toEqual(["All: x, y"]);
  expect(linesOf("$scopes:lines")).toEqual(["a", "b"]);
  expect([linesOf("$nothing:lines"), linesOf("$empty:lines")]).toEqual([[], []]);
});

test("a row has a label, or stands for each item of a list", () => {
  const rowsOf = (label: string, template: string) => fillRows(label, template, [answer, sent]);
  expect(rowsOf("people", "$nothing")).toEqual([["people", null]]);
  expect(rowsOf("$groups{group $id}", "$id of $people")).toEqual([
    ["group x", "x of 1"],
    ["group y", "y of 1"],
  ]);
});

test("data keeps the kind of a value", () => {
  expect(fillData("$groups", [answer, sent])).toEqual(answer.groups);
  expect(fillData("$nothing", [answer, sent])).toBeNull();
  expect(fillData("$groups{[id=y?$id]}", [answer, sent])).toEqual(["y"]);
  expect(fillData("$people(person/people)", [answer, sent])).toBe("1 person");
});

test("the paths of a template are those of its values, conditions and items", () => {
  expect(pathsIn("$a|b.c [!d=X?$e+f] $g{$h[ $i]}")).toEqual(["a", "b.c", "d", "e", "f", "g", "g.h", "g.i"]);
  expect(pathsIn("$a{[b=$c?$d]}")).toEqual(["a", "a.b", "c", "a.d"]);
});
