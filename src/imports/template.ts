import { readFileSync } from "node:fs";

/** A plain CSV file to fill in, with a byte order mark and `;` so that spreadsheet programs open it as it is meant. */
export const plainTemplate = (): string => readFileSync(new URL("template.csv", import.meta.url), "utf8");
