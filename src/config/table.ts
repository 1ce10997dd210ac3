import { options } from "./options/index.ts";

type Row = { default: string | null; defaultMeaning?: string; meaning: string; example: string };

function presentRow([name, option]: [string, Row]): string {
  const standard = option.defaultMeaning ?? `\`${option.default}\``;
  const example = option.example.includes("`") ? option.example : `\`${option.example}\``;
  return `| \`${name}\` | ${standard} | ${option.meaning} | ${example} |`;
}

/** The table of docs/configuration.md. */
export function makeConfigTable(): string {
  const rows = Object.entries<Row>(options).map(presentRow);
  return ["| Variable | Default | Meaning | Example |", "|---|---|---|---|", ...rows].join("\n");
}
