import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../platform/errors.ts";
import { makeThreadPool } from "../../platform/threads/index.ts";
import type { SheetTask, WrittenSheet } from "./write-sheet.ts";
import { listZip } from "./zip.ts";

export type Sheet = { path: string; name: string; names: readonly string[] };

/** Units: bytes of the unpacked workbook, of which the sheets of 50,000 people take about half. */
const maxBytes = 64 * 2 ** 20;

const run = makeThreadPool({ niceness: 10, memoryMb: 768 });
const task = { module: new URL("./write-sheet.ts", import.meta.url), seconds: 120 };

/**
 * Writes a sheet of a workbook as CSV to a temporary file, with the line of each row as its number. Formulas are not
 * calculated: the file has their last values. By default, the first sheet with two rows.
 *
 * Errors: invalid workbook_damaged, workbook_too_large, sheet_unknown, file_empty.
 */
export async function writeSheet(path: string, name: string | undefined): Promise<Sheet> {
  const size = (await listZip(path)).reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (size > maxBytes) throw tooLarge();
  const target = join(tmpdir(), `schultor-upload-${randomUUID()}`);
  try {
    const given: SheetTask = { path, target, name };
    const made = (await run(task, given).catch((cause: unknown) => {
      throw (cause as { code?: unknown }).code === "ERR_WORKER_OUT_OF_MEMORY" ? tooLarge(cause) : cause;
    })) as WrittenSheet;
    if ("refused" in made) throw new AppError("invalid", made.refused, messages[made.refused]);
    return { path: target, ...made };
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

const messages = {
  workbook_damaged: "The Excel workbook cannot be read. Open it in Excel, and save it again.",
  sheet_unknown: "The workbook has no such sheet.",
  file_empty: "The file is empty.",
};

const tooLarge = (cause?: unknown) =>
  new AppError(
    "invalid",
    "workbook_too_large",
    "The Excel workbook unpacks to more than 64 MiB. Save the sheet as CSV.",
    undefined,
    { cause },
  );
