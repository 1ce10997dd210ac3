import { expect, test } from "vitest";
import { fillPage, pagesWithTables } from "../../openapi/tools/docs-tables.ts";

test.each(Object.keys(pagesWithTables))("the tables of docs/%s are as `npm run docs:tables` writes them", (page) => {
  const { text, filled } = fillPage(page);
  expect(filled).toBe(text);
});

test("a page without the place of a table is refused", () => {
  expect(() => fillPage("privacy.md", "# Privacy\n")).toThrow("needs the two lines");
});
