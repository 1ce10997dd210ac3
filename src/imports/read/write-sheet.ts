// Runs in a child process, because a workbook of 64 MiB takes seconds.
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { csvLimits } from "./csv.ts";
import { isTrue, openWorkbook, unescapeText, WorkbookError } from "./workbook-parts.ts";
import type { Attributes, WorkbookFault } from "./workbook-parts.ts";

export type SheetTask = { path: string; target: string; name: string | undefined };
export type WrittenSheet =
  | { name: string; names: readonly string[]; others: number }
  | { refused: WorkbookFault | "sheet_unknown" | "file_empty" };

/** Units: characters; a file of CSV may be as large. */
const longestText = 64 * 2 ** 20;
const longestName = 255;
/** Source: ECMA-376 part 1, 18.3.1.73 (row) and 18.18.7 (ST_CellRef); Excel's own limits. */
const last = { column: 16_384, row: 1_048_576 };

const damaged = () => new WorkbookError("workbook_damaged");

type Workbook = Awaited<ReturnType<typeof openWorkbook>>;

export default async function writeSheet({ path, target, name }: SheetTask): Promise<WrittenSheet> {
  let workbook: Workbook | undefined;
  try {
    workbook = await openWorkbook(path);
    return await writeFrom(workbook, target, name);
  } catch (error) {
    return { refused: error instanceof WorkbookError ? error.code : "workbook_damaged" };
  } finally {
    workbook?.close();
  }
}

async function writeFrom(workbook: Workbook, target: string, name: string | undefined): Promise<WrittenSheet> {
  const { sheets, countsFrom1904 } = await workbook.listSheets();
  if (sheets.some((sheet) => sheet.name.length > longestName)) throw damaged();
  // A list that can be seen goes before a hidden one.
  const sorted = sheets.toSorted((a, b) => Number(a.isHidden) - Number(b.isHidden));
  const lists: typeof sheets = [];
  for (const sheet of sorted) if (await hasTwoRows(workbook, sheet.part)) lists.push(sheet);
  const chosen = name === undefined ? (lists[0] ?? sorted[0]) : sheets.find((sheet) => sheet.name === name);
  if (chosen === undefined) return { refused: name === undefined ? "file_empty" : "sheet_unknown" };
  const reading = { countsFrom1904, strings: await workbook.readStrings(), formats: await workbook.readFormats() };
  const file = createWriteStream(target, { flags: "wx", mode: 0o600 });
  let text = "";
  let length = 0;
  let line = 1;
  await readRows(workbook, chosen.part, reading, {
    row(number, cells) {
      const added = `${"\n".repeat(number - line)}${cells.map(toField).join(";")}\n`;
      line = number + 1;
      length += added.length;
      text += added;
      if (length > longestText) throw new WorkbookError("workbook_too_large");
    },
    async next() {
      if (text !== "" && !file.write(text)) await once(file, "drain");
      text = "";
    },
  });
  file.end();
  await finished(file);
  const others = lists.filter((sheet) => sheet !== chosen && !sheet.isHidden).length;
  return { name: chosen.name, names: sheets.map((sheet) => sheet.name), others };
}

async function hasTwoRows({ read }: Workbook, part: string): Promise<boolean> {
  const rows = new Set<number>();
  let row = 0;
  await read(part, {
    open(path) {
      if (path === "/worksheet/sheetData/row") row += 1;
      if (path === "/worksheet/sheetData/row/c/v" || path === "/worksheet/sheetData/row/c/is") rows.add(row);
    },
    next: () => rows.size < 2,
  });
  return rows.size > 1;
}

type Area = { column: number; from: number; to: number };

/** Merged cells of one column, whose value is that of each row; the uppermost is the last. */
async function listMerged({ read }: Workbook, part: string): Promise<Area[]> {
  const areas: Area[] = [];
  await read(part, {
    open(path, attributes) {
      if (path !== "/worksheet/mergeCells/mergeCell") return;
      const [from = "", to = from] = (attributes()["ref"] ?? "").split(":");
      const [first, end] = [readReference(from), readReference(to)];
      if (first.column === end.column) areas.push({ column: first.column, from: first.row, to: end.row });
    },
  });
  return areas.toSorted((a, b) => b.from - a.from);
}

function readReference(text: string): { column: number; row: number } {
  const [, letters = "", digits = ""] = /^([A-Z]{1,3})([1-9]\d{0,6})$/.exec(text) ?? [];
  const column = Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  const row = Number(digits);
  if (row < 1 || row > last.row || column > last.column) throw damaged();
  return { column, row };
}

type WorkbookParts = { countsFrom1904: boolean; strings: readonly string[]; formats: readonly string[] };
type Rows = { row(number: number, cells: readonly string[]): void; next(): Promise<void> };

/** The references of rows and cells may be left out (ECMA-376 part 1, 18.3.1.4 and 18.3.1.73). */
async function readRows(workbook: Workbook, part: string, reading: WorkbookParts, { row: onRow, next }: Rows) {
  const merged = await listMerged(workbook, part);
  const open = new Map<number, Area & { text: string }>();
  let before = 0;
  let row = { number: 0, isGiven: false, length: 0, cells: [] as string[] };
  let column = 0;
  let cell: Cell = { attributes: {}, value: "", text: "", hasValue: false, hasFormula: false };

  const startRow = (attribute: string | undefined): void => {
    if (attribute !== undefined && !/^[1-9]\d{0,6}$/.test(attribute)) throw damaged();
    row = {
      number: attribute === undefined ? before + 1 : Number(attribute),
      isGiven: attribute !== undefined,
      length: 0,
      cells: [],
    };
    column = 0;
  };
  const startCell = (attributes: Attributes): void => {
    column += 1;
    if (attributes["r"] !== undefined) {
      const place = readReference(attributes["r"]);
      if (!row.isGiven) row = { ...row, number: place.row, isGiven: true };
      if (place.row !== row.number) throw damaged();
      column = place.column;
    }
    cell = { attributes, value: "", text: "", hasValue: false, hasFormula: false };
  };
  const finishCell = (): void => {
    if (column > last.column) throw damaged();
    const text = readCell(cell, reading);
    row.length += text.length + 1;
    if (row.length > csvLimits.record) throw new WorkbookError("workbook_too_large");
    if (text !== "") row.cells[column - 1] = text;
  };
  const finishRow = ({ number, cells }: typeof row): void => {
    if (number <= before || number > last.row) throw damaged();
    before = number;
    while (merged.length > 0 && merged.at(-1)!.from <= number) {
      const area = merged.pop()!;
      const text = area.from === number ? cells[area.column - 1] : undefined;
      if (text !== undefined) open.set(area.column, { ...area, text });
    }
    if (cells.length === 0) return;
    for (const { column: at, to, text } of open.values()) {
      if (number > to) open.delete(at);
      else cells[at - 1] ??= text;
    }
    onRow(
      number,
      Array.from(cells, (text) => text ?? ""),
    );
  };

  await workbook.read(part, {
    open(path, attributes) {
      if (path === rowPath) startRow(attributes()["r"]);
      else if (path === cellPath) startCell(attributes());
      else if (path === `${cellPath}/v`) cell.hasValue = true;
      else if (path === `${cellPath}/f`) cell.hasFormula = true;
    },
    text(path, text) {
      if (path === `${cellPath}/v`) cell.value += text;
      else if (path === `${cellPath}/is/t` || path === `${cellPath}/is/r/t`) cell.text += text;
    },
    close(path) {
      if (path === cellPath) finishCell();
      else if (path === rowPath) finishRow(row);
    },
    next: () => next().then(() => true),
  });
}

const rowPath = "/worksheet/sheetData/row";
const cellPath = `${rowPath}/c`;

type Cell = { attributes: Attributes; value: string; text: string; hasValue: boolean; hasFormula: boolean };

/** Stands for a formula that the writing program did not calculate. */
const notCalculated = "#CALC!";

function readCell({ attributes, value, text, hasValue, hasFormula }: Cell, reading: WorkbookParts): string {
  const { t: type = "n", s: style = "0" } = attributes;
  if (type === "inlineStr") return unescapeText(text);
  if (type === "str") return unescapeText(value);
  const written = value.trim();
  if (written === "") return hasFormula && !hasValue ? notCalculated : "";
  if (type === "s") return reading.strings[/^\d+$/.test(written) ? Number(written) : -1] ?? fail(damaged());
  if (type === "b") return String(isTrue(written));
  if (type === "n") return readNumber(written, reading.formats[Number(style)] ?? "", reading.countsFrom1904);
  return type === "d" ? written.replace(/T00:00:00(\.0+)?Z?$/, "") : written;
}

const fail = (error: Error): never => {
  throw error;
};

const exactDigits = 15;

/** Beyond 15 digits a spreadsheet rounds, which `E+` says here as it does in CSV. */
function readNumber(written: string, format: string, countsFrom1904: boolean): string {
  const number = Number(written);
  if (!Number.isFinite(number)) return written;
  if (isDateFormat(format)) {
    const date = new Date(Math.round((countsFrom1904 ? first1904 : first1900) + number * 86_400_000));
    return Number.isNaN(date.getTime()) ? "" : date.toISOString().replace("T00:00:00.000Z", "");
  }
  const digits = /^\d+$/.test(written) ? written : String(Number(number.toPrecision(exactDigits)));
  if (Number.isInteger(number) && Math.abs(number) >= 10 ** exactDigits) return number.toExponential();
  return digits.padStart(/^0+$/.test(format) ? format.length : 0, "0");
}

const first1900 = Date.UTC(1899, 11, 30);
const first1904 = Date.UTC(1904, 0, 1);

/** ECMA-376 part 1, 18.8.31, without literal text, colors and conditions. */
function isDateFormat(code: string): boolean {
  const signs = code.split(";")[0]!.replace(/"[^"]*"|\\.|[_*].|\[(?![hms]+\])[^\]]*\]/gi, "");
  return /[dmyhs]/i.test(signs);
}

function toField(text: string): string {
  const line = text.replace(/[\r\n]+/g, " ");
  return /[";]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
}
