import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { options } from "./options/index.ts";

const begin = "<!-- configuration: made by `npm run docs:config` -->";
const end = "<!-- end of configuration -->";
export const configPage = join(import.meta.dirname, "../../docs/configuration.md");

type Row = { default: string | null; defaultMeaning?: string; meaning: string; example: string };

function presentRow([name, option]: [string, Row]): string {
  const standard = option.defaultMeaning ?? `\`${option.default}\``;
  const example = option.example.includes("`") ? option.example : `\`${option.example}\``;
  return `| \`${name}\` | ${standard} | ${option.meaning} | ${example} |`;
}

export function makeConfigTable(): string {
  const rows = Object.entries<Row>(options).map(presentRow);
  return ["| Variable | Default | Meaning | Example |", "|---|---|---|---|", ...rows].join("\n");
}

export function insertConfigTable(text: string): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The page needs the two lines\n${begin}\n${end}`);
  return `${before}${begin}\n${makeConfigTable()}\n${end}${after}`;
}

if (import.meta.main) {
  const file = configPage;
  const text = readFileSync(file, "utf8");
  const current = insertConfigTable(text);
  if (process.argv.includes("--check")) {
    if (text !== current) {
      console.error("The table in docs/configuration.md is not current: run `npm run docs:config` and commit it.");
      process.exitCode = 1;
    }
  } else {
    writeFileSync(file, current);
  }
}
