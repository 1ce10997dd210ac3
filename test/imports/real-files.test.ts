import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { findEncoding, readText } from "../../src/imports/read/text.ts";
import { openSourceFile } from "../../src/imports/read/source.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter, readDirectory, writeRoster, zip } from "./rosters.ts";
import { writeWorkbook } from "./workbook.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, faults } = makeImporter(db);

test("a title, empty rows, empty columns at the end and German roles harm nothing", async () => {
  const school = await make.school({ officialId: "DE-RF-1" });
  const lines = [
    "Goethe-Gymnasium, Musterstadt;;;;;;",
    ";;;;;;",
    "Stand: 31.08.2026, alle Klassen",
    "id;role;first_name;last_name;classes;;",
    "1;Schülerin;Ada ;  Muster;5a;;",
    ";;;;;;",
    "2;SuS;Bo;Beispiel;5a",
    "3;Lehrkraft;Cy;Cramer",
    "4;Sekretariat;Di;Dorn;;",
    "",
  ];
  await run(lines.join("\r\n"), { school });
  expect((await readDirectory(db)).people.filter((line) => line.startsWith("DE-RF-1"))).toEqual([
    "DE-RF-1 1 STUDENT Ada Ada Muster DE-RF-1",
    "DE-RF-1 2 STUDENT Bo Bo Beispiel DE-RF-1",
    "DE-RF-1 3 TEACHER Cy Cy Cramer DE-RF-1",
    "DE-RF-1 4 OTHER Di Di Dorn DE-RF-1",
  ]);
});

test("a row with more values than headings, or without the needed ones, is a fault", async () => {
  const school = await make.school({ officialId: "DE-RF-2" });
  const rows = ["id;role;first_name;last_name;classes", "1;student;Ada;Muster;5a;more", "2;student"];
  expect(await faults(rows.join("\n"), { school })).toEqual(["file:2:- - field_count", "file:3:- - field_count"]);
});

test("the separator is the one that makes columns, not the one in the title or in the names", async () => {
  const school = await make.school({ officialId: "DE-RF-3" });
  for (const separator of [";", ",", "\t"]) {
    const rows = ["id,role,first_name,last_name", '1,student,"Ada; B.","Muster, von"'].map((row) =>
      row.replace(/,(?! von)/g, separator),
    );
    await run(["sep=" + separator, ...rows].join("\n"), { school });
    await run(["Liste; alle, Klassen; Stand, heute; neu", "", ...rows, rows[1]!.replace("1", "2")].join("\n"), {
      school,
    });
  }
  expect((await readDirectory(db)).people.filter((line) => line.startsWith("DE-RF-3"))).toEqual([
    "DE-RF-3 1 STUDENT Ada; B. Ada; B. Muster, von DE-RF-3",
    "DE-RF-3 2 STUDENT Ada; B. Ada; B. Muster, von DE-RF-3",
  ]);
});

const foundIn = async (content: Buffer) => findEncoding(await openSourceFile(await writeRoster(content)));
const encodingOf = async (content: Buffer) => (await foundIn(content)).encoding;

test("ISO 8859-15 is told from Windows-1252 by its letters, and UTF-16 is known without a mark", async () => {
  const latin = (text: string) => Buffer.from(text, "latin1");
  expect(await encodingOf(latin("id;name\n1;Jo\xa8ip \xb4i\xb8ek\n"))).toBe("iso-8859-15");
  expect(await encodingOf(latin("id;name\n1;Le B\xbduf, M\xfcller\n"))).toBe("iso-8859-15");
  expect(await encodingOf(latin("id;name\n1;O\xb4Brien, M\xfcller\n"))).toBe("windows-1252");
  expect(await encodingOf(latin("id;name\n1;Jo\x9aip \x8ei\x9eek \xa8\n"))).toBe("windows-1252");
  expect(await encodingOf(Buffer.from("id;name\n1;Müller\n", "utf16le"))).toBe("utf-16le");
  expect(await encodingOf(Buffer.from("id;name\n1;Müller\n", "utf16le").swap16())).toBe("utf-16be");
});

const readWith = async (content: Buffer) => {
  const pieces: string[] = [];
  for await (const piece of readText(await openSourceFile(await writeRoster(content)), () => undefined))
    pieces.push(piece);
  return pieces.join("");
};

test("the letters tell Mac OS Roman and DOS from Windows; several encodings that fit are all shown", async () => {
  const bytes: Record<string, string> = {
    macintosh: "Nachname;Vorname\r\nM\x9aller;J\x9arg\r\nWei\xa7;Ayse\r\nGr\x9fn;K\x8athe\r\n",
    ibm850: "Nachname;Vorname\r\nM\x94ller;J\x94rg\r\nWei\xe1;Ayse\r\nGr\x81n;K\x84the\r\n",
    "windows-1252": "Nachname;Vorname\r\nM\xf6ller;J\xf6rg\r\nWei\xdf;Ayse\r\nGr\xfcn;K\xe4the\r\n",
  };
  for (const [encoding, text] of Object.entries(bytes)) {
    expect(await foundIn(Buffer.from(text, "latin1"))).toEqual({ encoding, possible: [] });
    expect(await readWith(Buffer.from(`${text}\x1a`, "latin1"))).toBe(
      "Nachname;Vorname\r\nMöller;Jörg\r\nWeiß;Ayse\r\nGrün;Käthe\r\n",
    );
  }
  const guesses: Record<string, string> = {};
  for (const word of [
    "M\x9aller",
    "Ale\x9a",
    "\x8aimko",
    "Weig\x8al",
    "Zolt\xe1n",
    "Tom\xe1\x9a",
    "Ren\x82",
    "\x80zdemir",
    "Stra\xa7e",
    "O\x92Neil",
  ]) {
    const { encoding, possible } = await foundIn(Buffer.from(`Name;Klasse\n${word};5a\n`, "latin1"));
    guesses[word.replace(/[\x80-\xff]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)] = [
      encoding,
      ...possible.map(({ samples }) => samples[0]),
    ].join(" ");
  }
  expect(guesses).toMatchInlineSnapshot(`
    {
      "%80zdemir": "macintosh Äzdemir Çzdemir",
      "%8aimko": "windows-1252",
      "Ale%9a": "windows-1252 Aleš Aleö",
      "M%9aller": "windows-1252 Mšller Möller",
      "O%92Neil": "windows-1252",
      "Ren%82": "ibm850",
      "Stra%a7e": "macintosh",
      "Tom%e1%9a": "windows-1252",
      "Weig%8al": "macintosh Weigäl Weigèl",
      "Zolt%e1n": "windows-1252",
    }
  `);
});

test("0x1A ends a file only where nothing follows", async () => {
  expect(await readWith(Buffer.from("a\x1ab\n\x1a\x1a\0\0"))).toBe("a\x1ab\n");
});

test("ids are read as spreadsheets write them, and rounded ones are a fault in every format", async () => {
  const school = await make.school({ officialId: "DE-RF-ID" });
  const plain = (content: string | Buffer) => faults(content, { school });
  const ids = ["1.234E+15", "1,2E15", '="007"', "'008", "9.0", "12\u00a0345", "#NV", "1E05"];
  const rows = ids.map((id) => `"${id.replaceAll('"', '""')}";student;A;B;`).join("\n");
  const archive = await zip({
    "orgs.csv": `sourcedId,type,identifier\n1.0,school,DE-RF-ID\n`,
    "users.csv": `sourcedId,status,orgSourcedIds,role,givenName,familyName\n${ids.map((id) => `"${id.replaceAll('"', '""')}",,1,student,A,B`).join("\n")}\n`,
    "classes.csv": `sourcedId,title,classType,schoolSourcedId\n5.0,5a,homeroom,1\n`,
    "enrollments.csv": `sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\ne1,5,1,12345,student\n`,
  });
  const context = '"personenkontexte": [{"organisation": {"kennung": "DE-RF-ID"}, "rolle": "Lern"}]';
  const json = [12345678901234567890n, 123456, '"1.5E+12"'].map((pid) => `{"pid": ${pid}, ${context}}`);
  const workbook = await writeWorkbook([
    ["id", "role", "first_name", "last_name"],
    [1234567890123456, "student", "A", "B"],
    [123456789012345, "student", "A", "B"],
  ]);
  expect([
    await plain(`id;role;first_name;last_name;classes\n${rows}`),
    await faults(archive),
    await faults(`[${json.join(",\n")}]`),
    (await plain(workbook)).map((fault) => fault.replace(/^[^:]*/, "file")),
  ]).toEqual([
    ["file:2:1 id id_rounded", "file:3:1 id id_rounded", "file:8:1 id value_is_error"],
    [
      "users.csv:2:1 sourcedId id_rounded",
      "users.csv:3:1 sourcedId id_rounded",
      "users.csv:8:1 sourcedId value_is_error",
    ],
    ["file:1:10 pid id_rounded", "file:3:9 pid id_rounded"],
    ["file:2:1 id id_rounded"],
  ]);
  await run(`id;role;first_name;last_name\n${rows.split("\n").slice(2, 6).join("\n")}\n`, {
    school,
    agree: true,
  });
  expect((await readDirectory(db)).people.map((person) => person.split(" ")[1])).toEqual(
    expect.arrayContaining(["007", "008", "9", "12345"]),
  );
});

const ole = (part: string): Buffer => {
  const start = Buffer.alloc(512);
  Buffer.from("d0cf11e0a1b11ae1", "hex").copy(start);
  start.writeUInt16LE(9, 30);
  start.writeUInt32LE(3, 48);
  return Buffer.concat([start, Buffer.alloc(3 * 512), Buffer.from(part, "utf16le"), Buffer.alloc(512)]);
};

const hex = (bytes: string) => Buffer.from(bytes, "hex");
const part = Buffer.from("sourcedId,status,orgSourcedIds,role,givenName\n1,active,s,student,A\n");
const files: [name: string, content: Buffer, code: string][] = [
  ["a photo", hex("ffd8ffe000104a46494600010100000100010000"), "file_is_picture"],
  ["a screenshot", hex("89504e470d0a1a0a0000000d49484452"), "file_is_picture"],
  ["a phone's photo", hex("00000018667479706865696300000000"), "file_is_picture"],
  ["a PDF", Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), "file_is_pdf"],
  ["a rich text", Buffer.from("{\\rtf1\\ansi Klasse 5a}"), "file_is_document"],
  ["a web page named .xls", Buffer.from('<html xmlns:x="urn:excel"><table><tr><td>1</table>'), "file_is_web_page"],
  ["an XML export", Buffer.from('\ufeff<?xml version="1.0"?><schueler/>'), "file_is_xml"],
  ["an old workbook", ole("Root Entry Workbook"), "file_is_old_excel"],
  ["a workbook with a password", ole("Root Entry EncryptionInfo EncryptedPackage"), "file_is_protected"],
  ["an old document", ole("Root Entry WordDocument"), "file_is_document"],
  ["an unknown program", Buffer.concat([Buffer.from("7z\xbc\xaf"), randomBytes(2000)]), "file_is_binary"],
  ["nothing", Buffer.alloc(0), "file_empty"],
  ["a column", Buffer.from("id\n1\n2\n"), "file_has_one_column"],
  ["a part of OneRoster", part, "oneroster_without_archive"],
];

test("a file that is no roster is refused by what it is", async () => {
  const school = await make.school({});
  for (const [name, content, code] of files)
    await expect(run(content, { school }), name).rejects.toMatchObject({ kind: "invalid", code });
});
