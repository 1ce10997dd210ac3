// @module-tag slow
import { expect, test } from "vitest";
import { makeStaff } from "../support/admin.ts";
import { rosterOf, rosterType, untilDone } from "../support/import-office.ts";
import { makeMakers } from "../support/make.ts";
import { expectReady } from "../support/ready.ts";
import { startService } from "../support/service.ts";
import { listUploads } from "../support/uploads.ts";
import { zip } from "../imports/rosters.ts";

const service = await startService();
const school = await makeMakers(service.db).school({});
const office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;

const headings = ["id", "role", "first_name", "last_name", "classes"];
const text = (reference: string, value: string): string =>
  `<c r="${reference}" t="inlineStr"><is><t>${value}</t></is></c>`;
const shared = (reference: string, index: number): string => `<c r="${reference}" t="s"><v>${index}</v></c>`;
const columnName = (index: number): string =>
  (index >= 26 ? columnName(Math.floor(index / 26) - 1) : "") + String.fromCharCode(65 + (index % 26));
const row = (number: string | number, cells: string): string => `<row r="${number}">${cells}</row>`;
const heading = row(1, headings.map((name, index) => text(`${columnName(index)}1`, name)).join(""));
const ada = row(
  2,
  ["1", "student", "Ada", "Muster", "5a"].map((value, index) => text(`${columnName(index)}2`, value)).join(""),
);
const sheet = (rows: string, before = ""): string =>
  `<worksheet>${before}<sheetData>${heading}${ada}${rows}</sheetData></worksheet>`;

type Parts = { sheets?: readonly string[]; strings?: readonly string[]; more?: Record<string, string> };

function workbook({ sheets = [sheet("")], strings = [], more = {} }: Parts): Promise<Buffer> {
  const base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/";
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${base}${type}" Target="${target}"/>`;
  return zip({
    "xl/workbook.xml": `<workbook xmlns:r="x"><sheets>${sheets
      .map((_, index) => `<sheet name="S${index}" sheetId="${index + 1}" r:id="r${index}"/>`)
      .join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${sheets
      .map((_, index) => relation(`r${index}`, "worksheet", `worksheets/sheet${index}.xml`))
      .join("")}${relation("s", "sharedStrings", "sharedStrings.xml")}</Relationships>`,
    "xl/sharedStrings.xml": `<sst>${strings.map((string) => `<si><t>${string}</t></si>`).join("")}</sst>`,
    ...Object.fromEntries(sheets.map((xml, index) => [`xl/worksheets/sheet${index}.xml`, xml])),
    ...more,
  });
}

const columnsOf = (count: number) => Array.from({ length: count }, (_, index) => columnName(index));
const megabyte = "x".repeat(1_000_000);

/** A row whose cells all have the first shared string. */
const filled = (number: number, count: number) =>
  row(
    number,
    columnsOf(count)
      .map((column) => shared(`${column}${number}`, 0))
      .join(""),
  );
const many = Array.from({ length: 398 }, (_, index) => filled(index + 3, 300)).join("");

const manyRows = [
  row(3, `${text("A3", "1")}${text("B3", "x".repeat(1000))}`),
  ...Array.from({ length: 100_000 }, (_, index) => row(index + 4, text(`A${index + 4}`, "1"))),
].join("");
const merged = '<mergeCells><mergeCell ref="B3:B1048576"/></mergeCells>';

const relationNamed = (id: string) => ({
  "xl/workbook.xml": `<workbook xmlns:r="x"><sheets><sheet name="S" sheetId="1" r:id="${id}"/></sheets></workbook>`,
});
const attacks: [name: string, parts: Parts, code: string][] = [
  ["a column beyond XFD", { sheets: [sheet(row(3, text("ZZZZZZZ3", "9")))] }, "workbook_damaged"],
  ["a reference named __proto__", { sheets: [sheet(row(3, text("__proto__3", "9")))] }, "workbook_damaged"],
  ["one long text in 119,400 cells", { strings: [megabyte], sheets: [sheet(many)] }, "workbook_too_large"],
  [
    "one long text in 700 cells of a row",
    { strings: [megabyte], sheets: [sheet(filled(3, 700))] },
    "workbook_too_large",
  ],
  ["a text of 20 million characters", { strings: [" ".repeat(20_000_000)] }, "workbook_too_large"],
  [
    "parts that unpack to more than 64 MiB",
    { sheets: Array(70).fill(sheet("", " ".repeat(1_000_000))) },
    "workbook_too_large",
  ],
  ["merged cells that fill a million rows", { sheets: [sheet(manyRows, merged)] }, "workbook_too_large"],
  [
    "1,001 sheets",
    { more: { "xl/workbook.xml": `<workbook>${"<sheets><sheet/></sheets>".repeat(1001)}</workbook>` } },
    "workbook_too_large",
  ],
  ["a sheet whose part is named like a property", { more: relationNamed("toString") }, "workbook_damaged"],
  ["a sheet whose part is a prototype", { more: relationNamed("__proto__") }, "workbook_damaged"],
  ["a document type", { sheets: [`<!DOCTYPE a [<!ENTITY b "c">]>${sheet("")}`] }, "workbook_damaged"],
];

const handIn = (body: Buffer, query = "") =>
  office("POST", `/imports?school=${school}${query}`, { body, headers: rosterType });

test.each(attacks)("a workbook with %s is refused, and leaves no file", async (_, parts, code) => {
  const before = await listUploads();
  expect(await handIn(await workbook(parts))).toMatchObject({ status: 400, body: { code } });
  expect((await listUploads()).filter((name) => !before.includes(name))).toEqual([]);
});

test("another import and the service go on while a workbook is read, and the fault is one of the file", async () => {
  const csv = rosterOf("1;student;Ada;Muster;5a");
  const harmful = await workbook({ sheets: [sheet(manyRows, merged)] });
  const { id } = (await handIn(harmful, "&in-background=true")).body as { id: string };
  const [other] = await Promise.all([handIn(csv), expectReady(service.url)]);
  expect(other.status).toBe(201);
  expect(await untilDone(office, id)).toMatchObject({ state: "BROKEN" });
  expect((await office("GET", `/imports/${id}/faults`)).body).toMatchObject([{ code: "workbook_too_large" }]);
});

test("a cancelled import ends its child, and leaves no file", async () => {
  const before = await listUploads();
  const sheets = Array.from({ length: 40 }, () => sheet("", " ".repeat(1_500_000)));
  const { id } = (await handIn(await workbook({ sheets }), "&in-background=true")).body as { id: string };
  expect((await office("POST", `/imports/${id}/cancellation`)).status).toBe(204);
  const left = async () => (await listUploads()).filter((name) => !before.includes(name));
  // Earlier than the child's time ends.
  await expect.poll(left, { timeout: 20_000 }).toEqual([]);
});

test("wrong references are refused, and what only looks large is read", async () => {
  const codeOf = async (rows: string, before?: string) => {
    const { status, body } = await handIn(await workbook({ sheets: [sheet(rows, before)] }));
    return status === 201 ? (body as { state: string }).state : (body as { code: string }).code;
  };
  const damaged = "XFE3,A1048577,A0,A-5,A3.5,A1e9,constructor3,toString3,3,A,,&#90;".split(",");
  for (const reference of damaged)
    expect([reference, await codeOf(row(3, text(reference, "9")))]).toEqual([reference, "workbook_damaged"]);
  for (const number of ["4000000000", "-5", "0", "1e6", "NaN", "__proto__"])
    expect([number, await codeOf(row(number, ""))]).toEqual([number, "workbook_damaged"]);
  const dimension = '<dimension ref="A1:XFD1048576"/>';
  expect(await codeOf('<row r="1048576"><c r="XFD1048576" s="1"/></row>', dimension)).toBe("READY");
  expect(await codeOf(row(1_048_576, text("XFD1048576", "9")))).toBe("READY");
});
