// Runs in a thread: unpacking a workbook and parsing its XML would block the event loop.
import { openAsBlob, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import readWorkbook from "read-excel-file/universal";

export type SheetTask = { path: string; target: string; name: string | undefined };
export type WrittenSheet =
  { name: string; names: readonly string[] } | { refused: "workbook_damaged" | "sheet_unknown" | "file_empty" };

type Cell = string | number | boolean | Date | null | undefined;

export default async function writeSheet({ path, target, name }: SheetTask): Promise<WrittenSheet> {
  const book = await openAsBlob(path)
    .then((blob) => readWorkbook(blob, { parseNumber: (text) => (/^\d+$/.test(text) ? text : String(Number(text))) }))
    .catch(() => undefined);
  if (book === undefined) return { refused: "workbook_damaged" };
  const sheets = book.map(({ sheet, data }) => ({ sheet, rows: data as readonly (readonly Cell[])[] }));
  const chosen =
    name === undefined
      ? (sheets.find(({ rows }) => rows.length > 1) ?? sheets[0])
      : sheets.find(({ sheet }) => sheet === name);
  if (chosen === undefined) return { refused: name === undefined ? "file_empty" : "sheet_unknown" };
  const lines = chosen.rows.map((row) => `${row.map(toField).join(";")}\n`);
  await pipeline(Readable.from(lines), createWriteStream(target, { flags: "wx", mode: 0o600 }));
  return { name: chosen.sheet, names: sheets.map(({ sheet }) => sheet) };
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
