import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { presentFault, presentImport } from "../../src/admin/imports/import-record.ts";
import { importLines } from "../../src/cli/import-lines.ts";
import { findImport, listImportFaults, maxFaults } from "../../src/imports/index.ts";
import { csvLimits, makeCsvReader, type CsvFault } from "../../src/imports/read/csv.ts";
import { jsonLimits, makeJsonArrayReader, type JsonFault } from "../../src/imports/read/json.ts";
import { readOrgs } from "../../src/imports/formats/oneroster.ts";
import { loadSchools } from "../../src/imports/formats/schools.ts";
import { makeStaging } from "../../src/imports/formats/staging.ts";
import { openSourceFile } from "../../src/imports/read/source.ts";
import { findEncoding } from "../../src/imports/read/text.ts";
import { openArchive, openParts } from "../../src/imports/read/zip.ts";
import { storeOf } from "../../src/platform/database/db.ts";
import { makeImporter, writeRoster, zip } from "../imports/rosters.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { faults, preview } = makeImporter(db);
const school = await make.school({ officialId: "DE-XX-F" });
const header = "id;role;first_name;last_name;classes\n";
const chunk = 16_384;

/** Reads a text as a file would come, with the faults and the number of characters that were looked at. */
const smallLimits = { ...csvLimits, record: 65_536, again: 32_768 };

function readCsv(text: string, limits = smallLimits) {
  const found: string[] = [];
  const reader = makeCsvReader(({ line, column, code }: CsvFault) => found.push(`${line}:${column} ${code}`), limits);
  const lines: number[] = [];
  const take = (records: { line: number }[]): void => records.forEach(({ line }) => lines.push(line));
  for (let at = 0; at < text.length; at += chunk) take(reader.push(text.slice(at, at + chunk)));
  take(reader.end());
  return { found, lines, visited: reader.visited };
}

const heading = "id;name\n";
const size = 2 * smallLimits.record;
const many = (line: string) => line.repeat(size / line.length);
const csvAttacks: [name: string, body: string, firstFault: string][] = [
  ["one line without an end", many("x"), "2:1 record_too_long"],
  ["one line of separators", many(";"), "2:"],
  ["a quotation mark that is never closed", `1;"${many("x\n")}`, "2:2 quote_not_closed"],
  ["a quotation mark that is never closed, in one line", `1;"${many("x")}`, "2:2 quote_not_closed"],
  // From each of these lines on, everything looks like one quoted record.
  ["lines that each open what the next one closes", `x;"\n${many('a";"b\n')}`, "2:1 record_too_long"],
  ["doubled quotation marks without an end", `1;"${many('""\n')}`, "2:2 quote_not_closed"],
  ["misplaced quotation marks in every line", many('"a"b;1\n'), "2:1 quote_misplaced"],
];

test.each(csvAttacks)("CSV of %s is read once, with its fault and its place", (_, body, firstFault) => {
  const [single, double] = [readCsv(heading + body), readCsv(heading + body + body)];
  expect(single.found[0]).toContain(firstFault);
  expect(single.visited).toBeLessThan(3 * size + 2 * smallLimits.again);
  expect(double.visited).toBeLessThan(6 * size + 2 * smallLimits.again);
});

test("behind a line that is too long the next lines are read, with their numbers", () => {
  const { found, lines } = readCsv(`${heading}1;a\n2;${"x".repeat(size)}\r\n3;c\n4;"open\n5;e\n6;"x"y\n7;g\n`);
  expect(found).toEqual(["3:1 record_too_long", "5:2 quote_misplaced", "7:2 quote_misplaced"]);
  expect(lines).toEqual([1, 2, 4, 6, 8]);
});

test("a JSON record that is too long or too deep is one fault at its beginning, and the next record is read", () => {
  const found: string[] = [];
  const reader = makeJsonArrayReader(({ line, column, code }: JsonFault) => found.push(`${line}:${column} ${code}`));
  const deep = "[".repeat(jsonLimits.depth + 100_000) + "]".repeat(jsonLimits.depth + 100_000);
  const text = `[\n{"a": "${"x".repeat(2 * jsonLimits.element)}"},\n  ${deep},\n{"b": 1}]`;
  const elements = [];
  for (let at = 0; at < text.length; at += chunk) elements.push(...reader.push(text.slice(at, at + chunk)));
  reader.end();
  expect(found).toEqual(["2:1 record_too_long", "3:3 record_too_deep"]);
  expect(elements).toEqual([{ text: '{"b": 1}', line: 4, column: 1, number: 3 }]);
});

test("a record with 6,000 bad contexts lists the first faults with their places, counts the others and says so", async () => {
  const [contexts, filler] = [6_000, Array.from({ length: 2_000 }, (_, n) => `"k${n}":0`).join(",")];
  const { id, state, errorCount } = await preview(
    `[{"pid":"p1",${filler},\n"personenkontexte":[\n${Array.from({ length: contexts }, () => "{}").join(",\n")}]}]`,
  );
  expect([state, errorCount]).toEqual(["BROKEN", 2 * contexts]);
  const kept = await listImportFaults(db, id, { limit: 2 * maxFaults });
  expect(kept).toHaveLength(maxFaults);
  // Each context lacks its school and its role.
  expect(kept[0]).toMatchObject({
    line: 3,
    column: 1,
    field: "personenkontexte.0.organisation.kennung",
    code: "unknown_school",
  });
  expect(kept.at(-1)).toMatchObject({ line: 2 + maxFaults / 2, column: 1, code: "value_missing" });
  const lines = importLines(
    presentImport(await findImport(storeOf(db), id, undefined)),
    kept.map(presentFault),
    new Map(),
    [],
  );
  expect(lines.at(-2)).toContain(`${2 * contexts - maxFaults} more`);
});

test("a file of faults only keeps as many as are listed, and none of its rows", async () => {
  const { id, errorCount } = await preview(header + ";wizard;;Test;\n".repeat(4_000), { school });
  expect(errorCount).toBe(12_000);
  expect(await db.prisma.importError.count({ where: { importId: id } })).toBe(maxFaults);
  const twice = await preview(header + "1;student;Ada;Test;\n".repeat(maxFaults + 5), { school });
  expect(twice.errorCount).toBe(maxFaults + 4);
  expect(await db.prisma.importError.count({ where: { importId: twice.id } })).toBe(maxFaults);
  expect(await db.prisma.stagedPerson.count({ where: { importId: { in: [id, twice.id] } } })).toBe(0);
});

test("control and bidirectional characters, NUL and halves of characters in any value are faults with their places", async () => {
  const plain = `${header}1;student;A\0da;Test;5a\n2;student;Bo;T\u202eest;5a\n3\0;student;Cem;Test;5a\n4;student;Dan;Test;5\u001b[2Ja\n`;
  expect(await faults(plain, { school })).toEqual([
    "file:2:3 first_name value_unreadable",
    "file:3:4 last_name value_unreadable",
    "file:4:1 id value_unreadable",
    "file:5:5 classes value_unreadable",
  ]);
  const json = String.raw`[{"pid":"p1","person":{"name":{"vorname":"A\u0000da","familienname":"\ud800"}},"personenkontexte":[{"organisation":{"kennung":"DE-XX-F"},"rolle":"LERN"}]}]`;
  expect((await faults(json)).map((line) => line.replace(/^\S+ /, ""))).toEqual([
    "person.name.vorname value_unreadable",
    "person.name.familienname value_unreadable",
  ]);
  const archive = await zip({
    "orgs.csv": "sourcedId,type,identifier\no,school,DE-XX-F\n",
    "users.csv": "sourcedId,orgSourcedIds,role,givenName,middleName,familyName\nu,o,student,Ada,M\0,Test\n",
    "classes.csv": `sourcedId,title,classType,schoolSourcedId,metadata.previousSourcedId\nc,5a,homeroom,o,\0\nd${"d".repeat(300)},5b,homeroom,o,\n`,
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
  });
  expect(await faults(archive)).toEqual([
    "classes.csv:2:5 metadata.previousSourcedId value_unreadable",
    "classes.csv:3:1 sourcedId value_too_long",
    "users.csv:2:5 middleName value_unreadable",
  ]);
});

test("a UTF-8 file with a damaged byte is not taken for Windows-1252, which would rename everybody; the damage is a fault", async () => {
  const damaged = Buffer.concat([
    Buffer.from(`${header}1;student;Jürgen;Test;\n2;student;B`),
    Buffer.from([0xfc]),
    Buffer.from("lent;Test;\n"),
  ]);
  expect(await faults(damaged, { school })).toEqual(["file:3:3 first_name value_unreadable"]);
  const encoding = async (content: Buffer) =>
    (await findEncoding(await openSourceFile(await writeRoster(content)))).encoding;
  expect(await encoding(Buffer.from(`${header}1;student;Jürgen;Großmüller;\n`, "latin1"))).toBe("windows-1252");
  expect(await encoding(Buffer.from(`\ufeff${header}`, "utf16le").swap16())).toBe("utf-16be");
});

test("an archive that unpacks to a hundred times its size is refused before it is unpacked", async () => {
  const path = await writeRoster(await zip({ "users.csv": Buffer.alloc(65 * 2 ** 20, "a") }));
  await expect(openArchive(path)).rejects.toMatchObject({ code: "archive_refused" });
});

test("an archive or workbook with a changed byte is damaged, even if it unpacks", async () => {
  const change = async (files: Record<string, string>) => {
    const content = await zip(files, false);
    content[content.indexOf("Muster")] = 0x6d;
    return writeRoster(content);
  };
  const users = `sourcedId,orgSourcedIds,role,givenName,familyName\nu1,o1,student,Ada,Muster\n`;
  await expect(faults(await readFile(await change({ "users.csv": users })))).rejects.toMatchObject({
    code: "file_damaged",
  });
  const { files, close } = await openParts(await change({ "xl/sheet.xml": "<worksheet>Muster</worksheet>" }));
  await expect(files.get("xl/sheet.xml")!.open().then(text)).rejects.toThrow("checksum");
  close();
});

test("what is kept of a long file does not keep the file in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const rows = 400;
  async function* read() {
    yield Buffer.from("sourcedId,type,identifier,filler\n");
    for (let row = 0; row < rows; row++)
      yield Buffer.from(`organisation-number-${row},district,,${"x".repeat(65_000)}\n`);
  }
  const file = { name: "orgs.csv", size: 0, encoding: "utf-8" as const, open: async () => Readable.from(read()) };
  const staging = makeStaging(db, randomUUID());
  const context = {
    staging,
    schools: await loadSchools(db, undefined),
    mode: undefined,
    carryOvers: new Map(),
    onBytes: () => undefined,
  };
  const before = used();
  const orgs = await readOrgs(new Map([["orgs.csv", file]]), "BULK", context);
  const kept = used() - before;
  expect([orgs.find(`organisation-number-${rows - 1}`), staging.faults]).toEqual([null, 0]);
  expect(kept).toBeLessThan(8_000_000);
});
