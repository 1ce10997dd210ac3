import { expect, test } from "vitest";
import { fill, fillData } from "./template.ts";

const answer = { people: 1, into: { name: "5b" }, scopes: ["a", "b"], groups: [{ id: "x" }, { id: "y" }], sync: false };
const sent = { note: "$people", into: null, empty: [], nothing: null };

test.each<[template: string, printed: string | null]>([
  ["$people(person/people) moved to $into.name.", "1 person moved to 5b."],
  ["Sync: $sync(on/off)", "Sync: off"],
  ["$scopes:words", "a b"],
  ["$scopes:commas", "a,b"],
  ["$scopes:size of them", "2 of them"],
  ["$groups.id", "x, y"],
  ["$nothing|into.name", "5b"],
  ["$empty", "none"],
  ["$nothing", null],
  ["$people and $nothing", "1 and –"],
  ["No value", "No value"],
])("%s is printed as %s", (template, printed) => {
  expect(fill(template, [answer, sent])).toBe(printed);
});

test("a value that looks like a template is printed as it is", () => {
  expect(fill("Note: $note", [answer, sent])).toBe("Note: $people");
});

test("data keeps the kind of a value", () => {
  expect(fillData("$groups", [answer, sent])).toEqual(answer.groups);
  expect(fillData("$nothing", [answer, sent])).toBeNull();
  expect(fillData("$people(person/people)", [answer, sent])).toBe("1 person");
});
