import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import { ZipFile } from "yazl";
import { expect, test } from "vitest";
import { findKind } from "../../src/imports/read/source.ts";
import writeSheet from "../../src/imports/read/write-sheet.ts";
import { writeRoster, zip } from "./rosters.ts";

const transitional = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const strict = "http://purl.oclc.org/ooxml/officeDocument/relationships";
const types = (main: string) => `<Types><Override PartName="/any" ContentType="application/${main}"/></Types>`;
const sheetType = "vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml";

type Parts = Record<string, string | Buffer>;
type Options = {
  sheets?: string[];
  states?: string[];
  strings?: string;
  styles?: string;
  before?: string;
  base?: string;
};

function parts({ sheets = [], states = [], strings, styles, before = "", base = transitional }: Options): Parts {
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${base}/${type}" Target="${target}"/>`;
  const listed = sheets.map((_, n) => `<sheet name="S${n}" sheetId="${n + 1}" r:id="r${n}" ${states[n] ?? ""}/>`);
  return {
    "[Content_Types].xml": types(sheetType),
    "_rels/.rels": `<Relationships>${relation("a", "officeDocument", "xl/workbook.xml")}</Relationships>`,
    "xl/workbook.xml": `<workbook xmlns:r="${base}">${before}<sheets>${listed.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${sheets.map((_, n) => relation(`r${n}`, "worksheet", `worksheets/sheet${n}.xml`)).join("")}${relation("s", "sharedStrings", "sharedStrings.xml")}${relation("t", "styles", "styles.xml")}</Relationships>`,
    ...(strings !== undefined && { "xl/sharedStrings.xml": `<sst>${strings}</sst>` }),
    ...(styles !== undefined && { "xl/styles.xml": styles }),
    ...Object.fromEntries(sheets.map((xml, n) => [`xl/worksheets/sheet${n}.xml`, xml])),
  };
}

const sheet = (rows: string, after = "") => `<worksheet><sheetData>${rows}</sheetData>${after}</worksheet>`;
const text = (value: string, attributes = "") => `<c t="inlineStr" ${attributes}><is><t>${value}</t></is></c>`;
const heading = `<row>${text("A")}${text("B")}</row>`;
const list = (cells: string) => ({ sheets: [sheet(`${heading}<row>${cells}</row>`)] });

const codeOf = (error: unknown) => (error as { code: string }).code;

async function read(content: Parts | Buffer, name?: string) {
  const path = await writeRoster(Buffer.isBuffer(content) ? content : await zip(content));
  const target = join(mkdtempSync(join(tmpdir(), "sheet-")), "sheet.csv");
  const kind = await findKind(path).catch(codeOf);
  if (kind !== "xlsx") return kind;
  const made = await writeSheet({ path, target, name });
  return "refused" in made ? made.refused : { ...made, lines: readFileSync(target, "utf8").trimEnd().split("\n") };
}

/** The second row of the sheet. */
async function rowOf(options: Options): Promise<unknown> {
  const found = await read(parts(options));
  return typeof found === "string" ? found : found.lines[1];
}

const styles = `<styleSheet><numFmts>${["dd\\.mm\\.yyyy", "00000", '"Jahrgang" 0', "[$-407]d/ mmmm yyyy;@", "[Red]0.0"]
  .map((code, n) => `<numFmt numFmtId="${n + 170}" formatCode="${code.replaceAll('"', "&quot;")}"/>`)
  .join("")}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>${[
  170, 171, 172, 173, 174,
]
  .map((id) => `<xf numFmtId="${id}"/>`)
  .join("")}</cellXfs></styleSheet>`;
const number = (value: string, style = 0) => `<c s="${style}"><v>${value}</v></c>`;
const strings = `<si><t xml:space="preserve"> a </t></si><si><r><t>Mül</t></r><r><rPr><b/></rPr><t>ler</t></r><rPh sb="0" eb="1"><t>MYURA</t></rPh></si>`;
const shared = (index: string) => `<c t="s"><v>${index}</v></c>`;
const prefixed = (xml: string) => xml.replace(/<(\/?)(?=\w)/g, "<$1x:");

test("a workbook is read as the standard allows it to be written", async () => {
  const cases: Record<string, Options> = {
    "no references": list(text("1") + text("2")),
    "references on cells alone": {
      sheets: [sheet(`<row><c r="A1"><v>1</v></c></row><row><c r="B2"><v>2</v></c></row>`)],
    },
    "a reference after cells without": list(`${text("1")}<c r="D2"><v>4</v></c>${text("5")}`),
    "a prefix": { ...list(""), sheets: [prefixed(list(text("1") + text("2")).sheets[0]!)] },
    "strict OOXML": { ...list(text("1") + text("2")), base: strict },
    "CDATA and entities": list(text("<![CDATA[<1>]]>&amp;&#252;&#x1F600;")),
    "shared, rich and phonetic strings": { ...list(shared("0") + shared("1")), strings },
    "a string that is not there": { ...list(shared("2")), strings },
    "escapes of characters": list(text("a_x000D__x000A_b") + text("_x005F_x0041_")),
    booleans: list('<c t="b"><v>1</v></c><c t="b"><v>true</v></c><c t="b"><v>0</v></c>'),
    "errors and formulas": list(
      '<c t="e"><v>#N/A</v></c><c t="str"><f>A1</f><v>x</v></c><c><f>A1</f></c><c t="str"><f>""</f><v></v></c>',
    ),
    numbers: list(["0123", "12.5", "5.0999999999999996", "1E3", "123456789012345"].map((one) => number(one)).join("")),
    "rounded numbers": list(["1234567890123456", "1.23456789012345E+17"].map((one) => number(one)).join("")),
    formats: { ...list([1, 2, 3, 4, 5, 6].map((style) => number("41152", style)).join("")), styles },
    "dates of 1904": { ...list(number("39690", 1)), styles, before: '<workbookPr date1904="true"/>' },
    "dates of ISO 8601": list('<c t="d"><v>2012-08-31T00:00:00</v></c>'),
    "merged cells of a column": {
      sheets: [
        sheet(
          `<row r="1">${text("7c", 'r="A1"')}${text("x", 'r="B1"')}</row><row r="2">${text("y", 'r="B2"')}</row>`,
          '<mergeCells><mergeCell ref="A1:A2"/></mergeCells>',
        ),
      ],
    },
    "a comment in a value": list("<c><v>1<!-- -->2</v></c>"),
    "a document type": { sheets: [`<!DOCTYPE x [<!ENTITY a "b">]>${sheet(heading)}`] },
    "a NUL": list(text("&#0;")),
    "half of a character": list(text("&#xD800;")),
    "rows in the wrong order": { sheets: [sheet('<row r="3"/><row r="2"/>')] },
    "a cell of another row": { sheets: [sheet('<row r="3"><c r="A2"/></row>')] },
  };
  const found: Record<string, unknown> = {};
  for (const [name, options] of Object.entries(cases)) found[name] = await rowOf(options);
  expect(found).toEqual({
    "no references": "1;2",
    "references on cells alone": ";2",
    "a reference after cells without": "1;;;4;5",
    "a prefix": "1;2",
    "strict OOXML": "1;2",
    "CDATA and entities": "<1>&ü😀",
    "shared, rich and phonetic strings": " a ;Müller",
    "a string that is not there": "workbook_damaged",
    "escapes of characters": "a b;_x0041_",
    booleans: "true;true;false",
    "errors and formulas": "#N/A;x;#CALC!",
    numbers: "0123;12.5;5.1;1000;123456789012345",
    "rounded numbers": "1.234567890123456e+15;1.23456789012345e+17",
    formats: "2012-08-31;2012-08-31;41152;41152;2012-08-31;41152",
    "dates of 1904": "2012-08-31",
    "dates of ISO 8601": "2012-08-31",
    "merged cells of a column": "7c;y",
    "a comment in a value": "12",
    "a document type": "workbook_damaged",
    "a NUL": "workbook_damaged",
    "half of a character": "workbook_damaged",
    "rows in the wrong order": "workbook_damaged",
    "a cell of another row": "workbook_damaged",
  });
});

test("relationships say where the parts are, and what is hidden is read last", async () => {
  const { sheets } = list(text("1"));
  const usual = parts({ sheets });
  const relation = (target: string, type: string) =>
    `<Relationships><Relationship Id="r0" Type="${transitional}/${type}" Target="${target}"/></Relationships>`;
  const moved = {
    "[Content_Types].xml": types("vnd.ms-excel.sheet.macroEnabled.main+xml"),
    "_rels/.rels": relation("/Data/Book%201.xml", "officeDocument"),
    "data/Book 1.xml": usual["xl/workbook.xml"]!,
    "data/_rels/Book 1.xml.rels": relation("..\\first.xml", "worksheet"),
    "First.xml": Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${sheets[0]}`, "utf16le"),
  };
  expect(await read(moved)).toMatchObject({ name: "S0", lines: ["A;B", "1"] });
  const several = parts({
    sheets: [sheets[0]!, sheet(heading), sheets[0]!, sheets[0]!],
    states: ['state="veryHidden"'],
  });
  expect(await read(several)).toMatchObject({ name: "S2", names: ["S0", "S1", "S2", "S3"], others: 1 });
  expect(await read(several, "S0")).toMatchObject({ name: "S0", others: 2 });
  expect(await read(several, "S9")).toBe("sheet_unknown");
  expect(await read({ ...usual, "xl/_rels/workbook.xml.rels": relation("a.xml", "chartsheet") })).toBe("file_empty");
});

test("entries of an archive may say their size behind them, and in 64 bits", async () => {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(parts(list(text("1")))))
    archive.addReadStream(Readable.from([Buffer.from(content)]), name, { forceZip64Format: true });
  archive.end();
  expect(await read(await buffer(archive.outputStream))).toMatchObject({ lines: ["A;B", "1"] });
});

test("the kind of a file is told by what follows its first letters", async () => {
  const files: Record<string, string | Buffer | Parts> = {
    "PKZ;Nachname;Vorname\n1;A;B": "csv",
    "[Name];[Klasse]\nA;5a": "csv",
    "{id};{name}\n1;A": "csv",
    '"[Name]","{id}"\nA,1': "csv",
    "<Name>;<Vorname>;<Table>\nA;B;C": "csv",
    "<table>;<id>\nA;1": "csv",
    "<status>\t<?xml\nA\t1": "csv",
    "%PDF-Name;Klasse\nA;5a": "csv",
    "ID;PKZ;Name\n1;2;A": "csv",
    "BMZ;ID\nA;1": "csv",
    "GIF8;Klasse\nA;5a": "csv",
    "Nr. ftyp;Name\n1;A": "csv",
    "\ufeff[\n": "json",
    '[{"pid": "1"}]': "json",
    '{"pid": "1"}': "json",
    "[[1]]": "json",
    "<schueler><name>A</name></schueler>": "file_is_xml",
    "<!-- Export --><html><body>": "file_is_web_page",
    "<table border=1><tr><td>1": "file_is_web_page",
    "ID;PWXL;N;E\r\nB;Y2;X2\r\nE": "file_is_other_spreadsheet",
  };
  const kindOf = async (content: string | Buffer) => findKind(await writeRoster(content)).catch(codeOf);
  const found: Record<string, unknown> = {};
  for (const content of Object.keys(files)) found[content] = await kindOf(content);
  expect(found).toEqual(files);
  for (const [content, kind] of Object.entries(files))
    expect([content, await kindOf(Buffer.from(`\ufeff${content}`, "utf16le"))]).toEqual([content, kind]);
  const open = (mimetype: string) => ({
    mimetype: Buffer.from(`application/vnd.oasis.opendocument.${mimetype}`),
    "content.xml": "<a/>",
  });
  const inner = `<Types><Default Extension="xlsx" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"/></Types>`;
  expect([
    await read(open("spreadsheet")),
    await read({ "[Content_Types].xml": inner, "word/document.xml": "<a/>" }),
    await read({ "[Content_Types].xml": types("vnd.ms-excel.sheet.binary.macroEnabled.main"), "xl/workbook.bin": "" }),
    await read({ "users.csv": "sourcedId" }),
  ]).toEqual(["file_is_other_spreadsheet", "file_is_document", "file_is_old_excel", "zip"]);
  const half = async (files: Parts) => {
    const content = await zip(files);
    return kindOf(content.subarray(0, content.length / 2));
  };
  expect([await half(parts(list(text("A")))), await half({ "users.csv": "sourcedId" })]).toEqual([
    "workbook_damaged",
    "archive_refused",
  ]);
});
