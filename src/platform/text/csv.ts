/** Prefixes what a spreadsheet would run as a formula with an apostrophe. */
export const csvForSpreadsheets = { escape_formulas: true } as const;

/** Excel reads commas as decimal signs in German. */
export const csvFile = (locale: "de" | "en") =>
  ({ ...csvForSpreadsheets, header: true, bom: true, delimiter: locale === "de" ? ";" : "," }) as const;
