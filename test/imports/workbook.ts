import { zip } from "./rosters.ts";

const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`;
const relations = (type: string, target: string) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;
const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
type Cell = string | number;
const cellOf = (cell: Cell, at: string) =>
  typeof cell === "number"
    ? `<c r="${at}"><v>${cell}</v></c>`
    : `<c r="${at}" t="inlineStr"><is><t>${escape(cell)}</t></is></c>`;
const rowOf = (cells: readonly Cell[], n: number) =>
  `<row r="${n}">${cells.map((text, at) => cellOf(text, `${String.fromCharCode(65 + at)}${n}`)).join("")}</row>`;

/** An Excel workbook with one sheet of up to 26 columns. */
export const writeWorkbook = (rows: readonly (readonly Cell[])[], sheet = "Tabelle1"): Promise<Buffer> =>
  zip({
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": relations("officeDocument", "xl/workbook.xml"),
    "xl/workbook.xml": `<workbook ${main}><sheets><sheet name="${escape(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations("worksheet", "worksheets/sheet1.xml"),
    "xl/worksheets/sheet1.xml": `<worksheet ${main}><sheetData>${rows.map((cells, n) => rowOf(cells, n + 1)).join("")}</sheetData></worksheet>`,
  });
