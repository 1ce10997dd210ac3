import { listZip, readZipTexts } from "./zip.ts";

export type WorkbookFault = "workbook_damaged" | "workbook_too_large";

/** Units: bytes of the unpacked parts that are read; cells of the areas from A1 to the last cell of each sheet. */
const most = { bytes: 64 * 2 ** 20, sheets: 1000, cells: 32_000_000 };
/** Source: ECMA-376 part 1, 18.3.1.73 (row) and 18.18.7 (ST_CellRef); Excel's own limits. */
const last = { column: 16_384, row: 1_048_576 };

/** Checks all that read-excel-file makes arrays for, before it does. */
export async function findWorkbookFault(path: string): Promise<WorkbookFault | null> {
  const parts = (await listZip(path)).filter(({ fileName }) => isPart(fileName));
  if (parts.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0) > most.bytes) return "workbook_too_large";
  let [sheets, cells] = [0, 0];
  for await (const xml of readZipTexts(path, isPart)) {
    const found = measure(xml);
    if (found === null) return "workbook_damaged";
    sheets += found.sheets;
    cells += found.rows * found.columns;
  }
  return sheets > most.sheets || cells > most.cells ? "workbook_too_large" : null;
}

/** The parts that read-excel-file unpacks. */
const isPart = (name: string): boolean => name.endsWith(".xml") || name.endsWith(".xml.rels");

const tags = /<(?:[\w.-]+:)?(row|c|sheet)(?=[\s/>])([^<>]*)>/g;
const reference = /\sr\s*=\s*(?:"([^"]*)"|'([^']*)')/;

/** Null if a reference is wrong. The last row and column are those of cells with a value. */
function measure(xml: string): { sheets: number; rows: number; columns: number } | null {
  const found = { sheets: 0, rows: 0, columns: 0 };
  for (const [, name, attributes] of xml.matchAll(tags) as Iterable<[string, string, string]>) {
    if (name === "sheet") found.sheets += 1;
    const match = reference.exec(attributes);
    const written = match?.[1] ?? match?.[2];
    if (name === "sheet" || written === undefined) continue;
    const [, letters, digits] = (name === "c" ? cellName : rowNumber).exec(written) ?? [];
    const [column, row] = [toColumn(letters ?? ""), Number(digits ?? 0)];
    if (row < 1 || row > last.row || column > last.column) return null;
    if (name === "row" || attributes.endsWith("/")) continue;
    found.rows = Math.max(found.rows, row);
    found.columns = Math.max(found.columns, column);
  }
  return found;
}

const cellName = /^([A-Z]{1,3})([1-9]\d{0,6})$/;
const rowNumber = /^()([1-9]\d{0,6})$/;

const toColumn = (letters: string): number =>
  Array.from(letters).reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0);
