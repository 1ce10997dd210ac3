/** Prefixes what a spreadsheet would run as a formula with an apostrophe. */
export const csvForSpreadsheets = { escape_formulas: true } as const;
