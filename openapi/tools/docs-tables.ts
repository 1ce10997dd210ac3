import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeExpectationTable } from "../../clients/tools/src/check-schulconnex/index.ts";
import { options } from "../../src/config/index.ts";
import { privacyTables } from "./docs-privacy.ts";

type Option = { default?: string; defaultMeaning?: string; meaning: string; example?: string };

function presentOption([name, option]: [string, Option]): string {
  const standard = option.defaultMeaning ?? `\`${option.default}\``;
  const example = option.example ?? option.default ?? "";
  return `| \`${name}\` | ${standard} | ${option.meaning} | ${example.includes("`") ? example : `\`${example}\``} |`;
}

const makeConfigTable = (): string =>
  [
    "| Variable | Default | Meaning | Example |",
    "|---|---|---|---|",
    ...Object.entries<Option>(options).map(presentOption),
  ].join("\n");

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
