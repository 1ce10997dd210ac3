/**
 * How every CSV is written that somebody may open with a spreadsheet: what it would take for a formula begins with an
 * apostrophe.
 */
export const csvForSpreadsheets = { escape_formulas: true } as const;
