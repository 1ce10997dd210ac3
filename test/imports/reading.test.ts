import fc from "fast-check";
import { expect, test } from "vitest";
import { makeCsvReader, type CsvFault } from "../../src/imports/read/csv.ts";
import { makeJsonArrayReader } from "../../src/imports/read/json.ts";
import { makeJsonPlaces } from "../../src/imports/read/json.ts";
import { openSourceFile } from "../../src/imports/read/source.ts";
import { findEncoding } from "../../src/imports/read/text.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { walks } from "../support/walks.ts";
import { makeImporter, readDirectory, writeRoster } from "./rosters.ts";

/** Hands a text over in pieces of the given sizes, over and over. */
function* cut(text: string, sizes: readonly number[]): Generator<string> {
  for (let at = 0, n = 0; at < text.length; n++) {
    const size = sizes[n % sizes.length]!;
    yield text.slice(at, at + size);
    at += size;
  }
}

function readCsv(text: string, sizes: readonly number[] = [text.length || 1]) {
  const faults: CsvFault[] = [];
  const reader = makeCsvReader((fault) => faults.push(fault));
  const records = [...cut(text, sizes)].flatMap((piece) => reader.push(piece)).concat(reader.end());
  return { records, faults };
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });

test("what is written as CSV is read as it was, with its lines, however it is cut into pieces", () => {
  const field = fc.string({ unit: fc.constantFrom("a", "ü", '"', ";", ",", "\n", "\r\n", " ", "😀"), maxLength: 6 });
  const table = fc.array(fc.array(field, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      table,
      fc.constantFrom(";", ","),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      sizes,
      (rows, delimiter, lineEnd, ends, pieces) => {
        const records = [["id", "role", "name"], ...rows];
        const text =
          records.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(delimiter)).join(lineEnd) +
          (ends ? lineEnd : "");
        let line = 1;
        const expected = records.map((fields) => {
          const record = { line, fields };
          line += 1 + fields.join("").split(/\r\n|\r|\n/).length - 1;
          return record;
        });
        // A carriage return and a line feed of two fields would look like one break when the fields are put together.
        fc.pre(!records.some((fields) => /\r$/m.test(fields.join("|").replaceAll("\r\n", ""))));
        expect(readCsv(text, pieces)).toEqual({ records: expected, faults: [] });
      },
    ),
    walks(100, 100),
  );
});

test("after a misplaced or forgotten quotation mark the other lines are read", () => {
  expect(readCsv('a;b\n1;"x"y\n2;ok\n3;"open\n4;lost')).toEqual({
    records: [
      { line: 1, fields: ["a", "b"] },
      { line: 3, fields: ["2", "ok"] },
      { line: 5, fields: ["4", "lost"] },
    ],
    faults: [
      { line: 2, column: 2, code: "quote_misplaced", message: expect.any(String) },
      { line: 4, column: 2, code: "quote_not_closed", message: expect.any(String) },
    ],
  });
});

test("the elements of a JSON array come as they stand in the file, however it is cut into pieces", () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 6 }),
      fc.constantFrom(undefined, 1, "\t"),
      sizes,
      (values, indent, pieces) => {
        const text = JSON.stringify(values, null, indent);
        const reader = makeJsonArrayReader(({ code }) => expect.fail(code));
        const elements = [...cut(text, pieces)].flatMap((piece) => reader.push(piece)).concat(reader.end());
        expect(elements.map((element) => JSON.parse(element.text) as unknown)).toEqual(JSON.parse(text));
        for (const { line, column, text: element } of elements)
          expect(
            text
              .split("\n")
              .slice(line - 1)
              .join("\n")
              .slice(column - 1)
              .startsWith(element),
          ).toBe(true);
      },
    ),
    walks(100, 100),
  );
});

test("the place of a value within a record is found", () => {
  const element = { text: '{ "a": [1, {"b\\"": "x,}", "c": {}}],\n  "d": null }', line: 7, column: 3, number: 1 };
  const places = [["a", 0], ["a", 1, 'b"'], ["a", 1, "c"], ["d"], ["d", "missing"], []].map(
    makeJsonPlaces(element).find,
  );
  expect(places.map(({ line, column }) => `${line}:${column}`)).toEqual(["7:11", "7:22", "7:34", "8:8", "8:8", "7:3"]);
});

test("UTF-8 with and without byte order mark, UTF-16 and Windows-1252 are told apart, wherever the first umlaut stands", async () => {
  const text = `id;role;first_name;last_name\n${"x".repeat(300_000)}\n1;student;Jürgen;Groß\n`;
  const bytes = {
    utf8: Buffer.from(text),
    bom: Buffer.from(`\ufeff${text}`),
    utf16: Buffer.from(`\ufeff${text}`, "utf16le"),
    windows: Buffer.from(text, "latin1"),
  };
  const found = await Promise.all(
    Object.values(bytes).map(async (content) => findEncoding(await openSourceFile(await writeRoster(content)))),
  );
  expect(found.map(({ encoding }) => encoding)).toEqual(["utf-8", "utf-8", "utf-16le", "windows-1252"]);
});

test("a plain file says the same in every encoding, with `;`, `,` and tab, and with separators in quotation marks", async () => {
  const db = await testDatabase();
  const school = await makeMakers(db).school({ officialId: "DE-XX-E" });
  const { run } = makeImporter(db);
  const rows = [
    ["id", "role", "first_name", "last_name", "classes"],
    ["1", "student", "Jürgen; Maria", "Groß “Ä”", "5ä"],
    ["2", "TEACHER", "Zoë", "Œuvre", ""],
  ];
  const write = (delimiter: string) =>
    rows.map((row) => row.map((value) => (/[;,]/.test(value) ? `"${value}"` : value)).join(delimiter)).join("\r\n");
  // Windows-1252 puts these signs where Latin-1 has none.
  const windows = Buffer.from(
    write(";").replaceAll("“", "\x93").replaceAll("”", "\x94").replaceAll("Œ", "\x8c"),
    "latin1",
  );
  for (const content of [
    Buffer.from(write(";")),
    Buffer.from(`\ufeff${write(",")}`),
    Buffer.from(`\ufeff${write("\t")}`, "utf16le"),
    windows,
  ]) {
    await run(content, { school });
    expect(await readDirectory(db)).toEqual({
      people: [
        "DE-XX-E 1 STUDENT Jürgen; Maria Jürgen; Maria Groß “Ä” DE-XX-E",
        "DE-XX-E 2 TEACHER Zoë Zoë Œuvre DE-XX-E",
      ],
      groups: ["DE-XX-E class:5ä KLASSE 5ä 1=STUDENT"],
    });
  }
  expect(await db.prisma.person.count()).toBe(2);
});
