// Runs in a child process: read-excel-file loads a workbook whole.
import { openAsBlob, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import readWorkbook from "read-excel-file/universal";
import { findWorkbookFault, type WorkbookFault } from "./check-workbook.ts";
import { csvLimits } from "./csv.ts";

export type SheetTask = { path: string; target: string; name: string | undefined };
export type WrittenSheet =
  { name: string; names: readonly string[] } | { refused: WorkbookFault | "sheet_unknown" | "file_empty" };

type Cell = string | number | boolean | Date | null | undefined;
type Sheet = { sheet: string; data: readonly (readonly Cell[])[] };

/** Units: characters; a file of CSV may be as large. */
const longestText = 64 * 2 ** 20;
const longestName = 255;

export default async function writeSheet({ path, target, name }: SheetTask): Promise<WrittenSheet> {
  const fault = await findWorkbookFault(path).catch((): WorkbookFault => "workbook_damaged");
  if (fault !== null) return { refused: fault };
  const sheets = await readSheets(path).catch(() => null);
  if (sheets === null) return { refused: "workbook_damaged" };
  const chosen =
    name === undefined
      ? (sheets.find(({ data }) => data.length > 1) ?? sheets[0])
      : sheets.find(({ sheet }) => sheet === name);
  if (chosen === undefined) return { refused: name === undefined ? "file_empty" : "sheet_unknown" };
  if (isTooLong(chosen.data)) return { refused: "workbook_too_large" };
  await pipeline(Readable.from(toLines(chosen.data)), createWriteStream(target, { flags: "wx", mode: 0o600 }));
  return { name: chosen.sheet, names: sheets.map(({ sheet }) => sheet) };
}

async function readSheets(path: string): Promise<readonly Sheet[] | null> {
  const parseNumber = (text: string) => (/^\d+$/.test(text) ? text : String(Number(text)));
  const sheets = (await readWorkbook(await openAsBlob(path), { parseNumber })) as readonly Sheet[];
  // A sheet may name a part that is missing, or be named like a property of every object.
  const isWhole = sheets.every(({ sheet, data }) => sheet.length <= longestName && Array.isArray(data));
  return isWhole ? sheets : null;
}

/** Many cells may share one long text, so this is found before any line is made. */
function isTooLong(rows: Sheet["data"]): boolean {
  let all = 0;
  return rows.some((row) => {
    const length = row.reduce<number>((sum, cell) => sum + 1 + (typeof cell === "string" ? cell.length : 0), 0);
    all += length;
    return length > csvLimits.record || all > longestText;
  });
}

const pieceLength = 65_536;

function* toLines(rows: Sheet["data"]): Generator<string> {
  let piece = "";
  for (const row of rows) {
    piece += `${row.map(toField).join(";")}\n`;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

function toField(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  // Spreadsheets have dates without a time zone.
  const text =
    cell instanceof Date
      ? Number.isNaN(cell.getTime())
        ? ""
        : cell.toISOString().replace("T00:00:00.000Z", "")
      : String(cell).replace(/[\r\n]+/g, " ");
  return /[";]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
