/** Prefixes what a spreadsheet would run as a formula with an apostrophe. */
export const csvForSpreadsheets = { escape_formulas: true } as const;

/** An apostrophe before what a spreadsheet would run. */
const escaped = /^'(?='*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/;

/** The value of a cell that was written `csvForSpreadsheets`. */
export const unescapeCell = (cell: string): string => cell.replace(escaped, "");

/** Keeps a value that looks as if it had been escaped, so that reading it returns it. */
export const keepApostrophe = (value: string): string => (escaped.test(value) ? `'${value}` : value);

/** Excel reads commas as decimal signs in German. */
export const csvFile = (locale: "de" | "en") =>
  ({ ...csvForSpreadsheets, header: true, bom: true, delimiter: locale === "de" ? ";" : "," }) as const;
