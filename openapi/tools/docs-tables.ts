import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeExpectationTable } from "../../clients/tools/src/check-schulconnex/index.ts";
import { makeConfigTable } from "../../src/config/index.ts";
import { privacyTables } from "./docs-privacy.ts";

/** Makes each table of a page, by the name in the two comments around it. */
type Tables = Readonly<Record<string, () => string>>;

/** The pages of docs/ with tables that are made from the code. */
export const pagesWithTables: Readonly<Record<string, Tables>> = {
  "check-schulconnex.md": { expectations: makeExpectationTable },
  "configuration.md": { configuration: makeConfigTable },
  "privacy.md": privacyTables("en"),
  "privacy.de.md": privacyTables("de"),
};

const pathOf = (page: string): string => join(import.meta.dirname, "../../docs", page);

const insertTable = (text: string, name: string, table: string): string => {
  const [begin, end] = [`<!-- ${name}: made by \`npm run docs:tables\` -->`, `<!-- end of ${name} -->`];
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The page needs the two lines\n${begin}\n${end}`);
  return `${before}${begin}\n\n${table}\n\n${end}${after}`;
};

/** A page as it is, and as it should be. Errors: a table has no place in it. */
export function fillPage(page: string, text = readFileSync(pathOf(page), "utf8")): { text: string; filled: string } {
  const tables = Object.entries(pagesWithTables[page]!);
  return { text, filled: tables.reduce((filled, [name, make]) => insertTable(filled, name, make()), text) };
}

if (import.meta.main)
  for (const page of Object.keys(pagesWithTables)) writeFileSync(pathOf(page), fillPage(page).filled);
