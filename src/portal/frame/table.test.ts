import { expect, test } from "vitest";
import { html, tableOf } from "./table.ts";

const markupOf = (cell: Parameters<typeof tableOf<string>>[0]["columns"][number]) =>
  tableOf({ label: "People", rows: ["<b>Ada</b>"], columns: [cell] }).lines[0]!.map(({ markup }) => markup);

test("a cell shows text as text, also inside markup", () => {
  expect(markupOf(["Name", (name) => name])).toEqual(["&lt;b&gt;Ada&lt;/b&gt;"]);
  expect(markupOf(["Name", (name) => html`<a href="${'"'}">${[name, html`<i>${name}</i>`]}</a>`])).toEqual([
    '<a href="&quot;">&lt;b&gt;Ada&lt;/b&gt;<i>&lt;b&gt;Ada&lt;/b&gt;</i></a>',
  ]);
});

test("a value that is missing leaves nothing, and zero stays", () => {
  expect(html`${null}${undefined}${false}${""}${0}`.markup).toBe("0");
});

test("a column that the reader does not get is left out, and the marked column names the row", () => {
  const { headings, lines } = tableOf({
    label: "Log",
    rows: [1],
    columns: [["Time", () => ""], false, ["What", () => "", "row"], ["Count", (count) => count, "number"]],
  });
  expect(headings.map(({ heading }) => heading)).toEqual(["Time", "What", "Count"]);
  expect(lines[0]!.map(({ isRow }) => isRow)).toEqual([false, true, false]);
});
