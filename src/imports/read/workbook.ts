import { rm } from "node:fs/promises";
import { ChildEnded, makeChildPool } from "../../platform/child-process/index.ts";
import { AppError } from "../../platform/errors.ts";
import { makeTemporaryPath } from "../../platform/temporary-files.ts";
import type { SheetTask, WrittenSheet } from "./write-sheet.ts";

/** `others`: how many sheets with a list were not read. */
export type Sheet = { path: string; name: string; names: readonly string[]; others: number };

const run = makeChildPool({ memoryMb: 768 });
const task = { module: new URL("./write-sheet.ts", import.meta.url), seconds: 60 };

/**
 * Writes a sheet of a workbook as CSV to a temporary file, with the line of each row as its number. Formulas are not
 * calculated: the file has their last values. By default, the first visible sheet with two rows.
 *
 * Errors: invalid workbook_damaged, workbook_too_large, sheet_unknown, file_empty; the signal's reason.
 */
export async function writeSheet(path: string, name: string | undefined, signal?: AbortSignal): Promise<Sheet> {
  const target = makeTemporaryPath();
  try {
    const made = await run<SheetTask, WrittenSheet>(task, { path, target, name }, signal).catch(explain);
    if ("refused" in made) throw refuseWorkbook(made.refused);
    return { path: target, ...made };
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

function explain(error: unknown): never {
  if (!(error instanceof ChildEnded)) throw error;
  throw refuseWorkbook(error.why === "crash" ? "workbook_damaged" : "workbook_too_large", error);
}

const messages = {
  workbook_damaged: "The Excel workbook cannot be read. Open it in Excel, and save it again.",
  workbook_too_large:
    "The Excel workbook is too large, or has cells far away from the list. Save the sheet with the list as CSV.",
  sheet_unknown: "The workbook has no such sheet.",
  file_empty: "The file is empty.",
};

export const refuseWorkbook = (code: keyof typeof messages, cause?: unknown): AppError =>
  new AppError("invalid", code, messages[code], undefined, { cause });
