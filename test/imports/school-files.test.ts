import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { makeStaff } from "../support/admin.ts";
import { untilDone } from "../support/import-office.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { walks } from "../support/walks.ts";
import { writeWorkbook } from "./workbook.ts";

const service = await startService();
const { prisma } = service.db;
const make = makeMakers(service.db);
const { call } = await makeStaff(service, "OPERATOR");
const fileOf = (name: string): Buffer => readFileSync(join(import.meta.dirname, "files", name));

type Columns = {
  columns: { heading: string; use: string | null; samples: string[] }[];
  sheets: string[];
  role: string | null;
  className: string | null;
  idFromName: boolean;
  mode: string;
};

async function makeSchool() {
  const school = await make.school({});
  const send = (body: Buffer, name = "liste") =>
    call("POST", `/imports?school=${school}&file-name=${encodeURIComponent(name)}`, {
      body,
      headers: { "content-type": "application/octet-stream" },
    });
  return { school, send };
}

async function importFile(name: string, change: (columns: Columns) => object = () => ({})) {
  const { school, send } = await makeSchool();
  const made = (await send(fileOf(name), name)).body as { id: string; state: string };
  expect(made.state).toBe("UNMAPPED");
  const found = (await call("GET", `/imports/${made.id}/columns`)).body as Columns;
  const { columns, role, className, idFromName, mode } = found;
  const body = { uses: columns.map(({ use }) => use), role, className, idFromName, mode, ...change(found) };
  const mapped = await call("PUT", `/imports/${made.id}/columns`, { body });
  expect(mapped.body).toMatchObject({ state: "READY" });
  await call("POST", `/imports/${made.id}/application`, { body: {} });
  return { found, people: await peopleOf(school), again: (await send(fileOf(name), name)).body };
}

async function peopleOf(schoolId: string): Promise<string[]> {
  const people = await prisma.person.findMany({
    where: { homeSchoolId: schoolId, sourceSystemIdentifier: { not: null } },
    include: { affiliations: { include: { memberships: { include: { group: true } } } } },
    orderBy: { sourceSystemIdentifier: "asc" },
  });
  return people.map(({ sourceSystemIdentifier: id, role, firstFull, firstCall, last, affiliations }) => {
    const groups = affiliations.flatMap(({ memberships }) => memberships.map(({ group }) => group.name));
    return [id!.replace(/^name:.*/, "name:"), role, `${firstFull}/${firstCall}`, last, groups.join("+")].join(" ");
  });
}

test.each<[string, string[]]>([
  [
    "schild-nrw.csv",
    [
      "10231 STUDENT Elif Su/Elif Aydin 05A",
      "10232 STUDENT Jörg/Jörg Müller-Lüdenscheidt 05A",
      "10233 STUDENT Anna-Sophie/Anna von der Heide 06B",
      "10234 STUDENT Cem/Cem Größer Q1",
    ],
  ],
  [
    "asv.csv",
    [
      "A-7781 STUDENT Korbinian Xaver/Korbinian Bäumler 7c",
      "A-7782 STUDENT Theresia Maria/Resi Öttl 7c",
      "A-7790 STUDENT Ludwig/Ludwig Weiß 7d",
    ],
  ],
  [
    "webuntis.csv",
    ["5120 STUDENT Elif/Elif Aydın 5a", "5121 STUDENT Jonas/Jonas Müller 5a", "5122 STUDENT Mert/Mert Özdemir 5b"],
  ],
  [
    "lusd.xlsx",
    [
      "0000812345 STUDENT Lina Marie/Lina Marie Döring 05a",
      "0000812346 STUDENT Emre/Emre Özil 05a",
      "0000812399 STUDENT Ida/Ida Strauß 10b",
    ],
  ],
  [
    "edupage.csv",
    [
      "-1201 STUDENT Šimon/Šimon Novák 1.A",
      "-1202 STUDENT Žofia/Žofia Kováčová 1.A",
      "-1203 STUDENT Ádám/Ádám Tóth 2.B",
    ],
  ],
  [
    "kollegium.csv",
    ["LEB TEACHER Noé/Noé Le Bœuf ", "MÜL TEACHER Käthe/Käthe Müller ", "ŠIK TEACHER Žarko/Žarko Šikic "],
  ],
  [
    "unicode-text.txt",
    [
      "20177 STUDENT Ömer Can/Ömer Can Yılmaz 9b",
      "20178 STUDENT Zofia/Zofia Łukasz 9b",
      '20180 STUDENT Max "Mäxchen"/Max "Mäxchen" Groß 9c',
    ],
  ],
])("%s is read as it was guessed, and the next one without a question", async (name, expected) => {
  const { people, again } = await importFile(name);
  expect(people).toEqual(expected);
  expect(again).toMatchObject({ state: "READY" });
});

test("the next file may have its columns in another order and more of them, but none that is guessed", async () => {
  const { send } = await makeSchool();
  const people = (headings: string, values: string) => Buffer.from(`${headings}\n1;${values}\n2;${values}\n`);
  const made = (await send(people("ID;Nachname;Vorname;Klasse;Ort", "Muster;Ada;5a;Hof"))).body as { id: string };
  const body = { uses: ["ID", "LAST_NAME", "FIRST_NAME", "CLASSES", "IGNORED"], role: "STUDENT", mode: "BULK" };
  await call("PUT", `/imports/${made.id}/columns`, { body: { ...body, className: null, idFromName: false } });
  const stateOf = async (file: Buffer) => ((await send(file)).body as { state: string }).state;
  expect([
    await stateOf(people("ID;Klasse;Vorname;Nachname;Telefon", "5a;Ada;Muster;030")),
    await stateOf(people("ID;Klasse;Vorname;Nachname;Rufname", "5a;Ada;Muster;Ada")),
    await stateOf(people("ID;Vorname;Nachname;Ort", "Ada;Muster;Hof")),
  ]).toEqual(["READY", "UNMAPPED", "UNMAPPED"]);
});

test("the file of Untis has no headings: its columns are chosen", async () => {
  const { found, people } = await importFile("untis-gpu004.txt", ({ columns }) => ({
    uses: columns.map((_, n) => ({ 0: "ID", 1: "LAST_NAME", 28: "FIRST_NAME" })[n] ?? "IGNORED"),
    role: "TEACHER",
  }));
  expect(found.columns[0]).toEqual({ heading: "", use: "IGNORED", samples: ["BÄR", "KRÜ", "SCH"] });
  expect(people).toEqual([
    "BÄR TEACHER Heike/Heike Bärlauch ",
    "KRÜ TEACHER Sven/Sven Krüger ",
    "SCH TEACHER Petra/Petra Schmitz ",
  ]);
});

test("headings that PostgreSQL cannot store are shown with another character, whatever the file is", async () => {
  const { send } = await makeSchool();
  const csv = (heading: string, more = "") => Buffer.from(`Nr.;${heading};Vorname;Kl.\n1;A;B;5a\n${more}`);
  const headings = ["Nr.", "Name_x0000_", "Vorname", "x_xD800_"];
  const workbook = await writeWorkbook([headings, ["1", "A", "B", "5a"]], "A_x0000_");
  for (const file of [csv("Name\0"), csv(`Name${"x".repeat(300)}\0`), workbook]) {
    const { body } = await send(file);
    expect(body).toMatchObject({ state: "UNMAPPED" });
    const { id } = body as { id: string };
    const { columns } = (await call("GET", `/imports/${id}/columns`)).body as Columns;
    for (const { heading } of columns) expect(heading).toMatch(/^[^\0]{0,200}$/);
    expect(columns.map(({ heading }) => heading)).toEqual([
      "Nr.",
      expect.stringMatching(/^Name/),
      "Vorname",
      expect.anything(),
    ]);
    await call("POST", `/imports/${id}/cancellation`);
  }
  const [twice, template] = ["1;B;C;5a\n", "id;role;first_name;last_name;x\0\n1;STUDENT;A;B;c\n1;STUDENT;A;B;c\n"];
  const { id } = (await send(csv("Name\0", twice))).body as { id: string };
  const uses = ["ID", "LAST_NAME", "FIRST_NAME", "CLASSES"];
  const mapping = { uses, role: "STUDENT", className: null, idFromName: false, mode: "BULK" };
  expect((await call("PUT", `/imports/${id}/columns`, { body: mapping })).body).toMatchObject({ state: "BROKEN" });
  expect((await send(Buffer.from(template))).body).toMatchObject({ state: "BROKEN" });
});

test("a table with more columns than can be mapped is refused", async () => {
  const { send } = await makeSchool();
  const wide = (columns: number) => Buffer.from(`${"ab;".repeat(columns)}\n${"1;".repeat(columns)}\n`);
  const template = (columns: number) => Buffer.from(`id;role;first_name;last_name${";x".repeat(columns)}\n`);
  for (const file of [wide(1001), wide(100_000), template(1000), template(100_000)])
    expect((await send(file)).body).toMatchObject({ status: 400, code: "table_too_wide" });
  // Excel writes separators for empty columns too.
  const empty = Buffer.from(`Name;Vorname;Nr.${";".repeat(16_381)}\nA;B;1${";".repeat(16_381)}\n`);
  expect((await send(empty)).body).toMatchObject({ state: "UNMAPPED" });
});

test("a class list made in Excel: the class from its title, dates as they are shown, ids from name and date", async () => {
  const { found, people } = await importFile("klassenliste-5a.xlsx", () => ({ idFromName: true }));
  expect(found).toMatchObject({ className: "5a", role: "STUDENT", mode: "DELTA" });
  expect(found.sheets.slice(0, 2)).toEqual(["Klassenliste", "Telefonliste"]);
  expect(found.columns.map(({ use }) => use)).toEqual([
    "IGNORED",
    "LAST_NAME",
    "FIRST_NAME",
    "BIRTH_DATE",
    "IGNORED",
    "IGNORED",
  ]);
  expect(found.columns[3]!.samples).toEqual(["2014-11-03", "2015-02-27", "2014-06-09"]);
  expect(people.toSorted()).toEqual([
    "name: STUDENT Elif/Elif Aydın 5a",
    "name: STUDENT Jonas/Jonas Müller 5a",
    "name: STUDENT Änne/Änne Weiß 5a",
  ]);
});

test("a workbook with a password and one of the old kind are refused by what they are", async () => {
  const { send } = await makeSchool();
  for (const [name, code] of [
    ["passwort.xlsx", "file_is_protected"],
    ["alt.xls", "file_is_old_excel"],
  ] as const)
    expect((await send(fileOf(name))).body).toMatchObject({ status: 400, code });
});

test("a workbook that unpacks to more than it says is refused", async () => {
  const { send } = await makeSchool();
  const workbook = fileOf("lusd.xlsx");
  const deflated = 8;
  const inDirectory = Buffer.from("PK\u0001\u0002", "latin1");
  for (let at = workbook.indexOf(inDirectory); at !== -1; at = workbook.indexOf(inDirectory, at + 1))
    if (workbook.readUInt16LE(at + 10) === deflated) workbook.writeUInt32LE(10, at + 24);
  expect((await send(workbook)).body).toMatchObject({ status: 400, code: "workbook_damaged" });
});

test("another sheet can be looked at", async () => {
  const { send } = await makeSchool();
  const { id } = (await send(fileOf("klassenliste-5a.xlsx"))).body as { id: string };
  const body = { uses: [], role: "COLUMN", className: null, idFromName: false, mode: "DELTA", sheet: "Telefonliste" };
  expect((await call("PUT", `/imports/${id}/columns`, { body })).body).toMatchObject({ state: "UNMAPPED" });
  const found = (await call("GET", `/imports/${id}/columns`)).body as Columns & { sheet: string };
  expect([found.sheet, found.columns.map(({ heading }) => heading)]).toEqual(["Telefonliste", ["Name", "Telefon"]]);
});

test("no damaged file makes the service fail", { tags: "model" }, async () => {
  const { send } = await makeSchool();
  const names = ["lusd.xlsx", "sims.csv", "unicode-text.txt", "passwort.xlsx", "asv.csv"].map(fileOf);
  const damaged = fc
    .tuple(fc.constantFrom(...names), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 20 }), fc.nat())
    .map(([file, bytes, end]) => {
      const copy = Buffer.from(file);
      for (const [at, byte] of bytes) copy[at % copy.length] = byte;
      return copy.subarray(0, end % 3 === 0 ? end % copy.length : copy.length);
    });
  const sent = fc.oneof(
    damaged,
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  );
  await fc.assert(
    fc.asyncProperty(sent, async (file) => {
      expect((await send(file)).status).toBeLessThan(500);
    }),
    walks(20, 3),
  );
});

test("encoding and separator can be chosen, and the file is read with them", async () => {
  const { send } = await makeSchool();
  const text = "Schüler-ID;Nachname;Vorname;Klasse\n1;Mu\xdfler;Bj\xf6rn, jun.;5a\n2;Mu\xdfler;Zo\xeb;5a\n";
  const { id } = (await send(Buffer.from(text, "latin1"))).body as { id: string };
  const find = async () => (await call("GET", `/imports/${id}/columns`)).body as Columns & Record<string, unknown>;
  const mapping = { uses: [] as string[], role: "COLUMN", className: null, idFromName: false, mode: "DELTA" };
  const put = (body: object) => call("PUT", `/imports/${id}/columns`, { body: { ...mapping, ...body } });
  expect(await find()).toMatchObject({ encoding: "windows-1252", separator: "SEMICOLON" });

  expect((await put({ encoding: "utf-8" })).body).toMatchObject({ state: "UNMAPPED" });
  const wrong = await find();
  expect([wrong["encoding"], wrong.columns[1]!.samples[0]]).toEqual(["utf-8", "Mu\ufffdler"]);
  expect((await put({ separator: "TAB" })).body).toMatchObject({ status: 400, code: "file_has_one_column" });
  expect(await find()).toEqual(wrong);
  await call("PUT", `/imports/${id}/columns?in-background=true`, { body: { ...mapping, separator: "TAB" } });
  await untilDone(call, id);
  expect(await find()).toEqual(wrong);
  expect((await put({ encoding: "iso-8859-15" })).body).toMatchObject({ state: "UNMAPPED" });
  expect((await find()).columns[1]!.samples).toEqual(["Mußler", "Mußler"]);
  const uses = ["ID", "LAST_NAME", "FIRST_NAME", "CLASSES"];
  expect((await put({ uses, role: "STUDENT" })).body).toMatchObject({ state: "READY" });
});

test("a template whose letters fit several encodings waits, shows the names in each, and is read in the chosen one", async () => {
  const { send } = await makeSchool();
  const file = Buffer.from("id;role;first_name;last_name\n1;student;Ada;M\x9aller\n", "latin1");
  const { id, state } = (await send(file)).body as { id: string; state: string };
  const find = async () => (await call("GET", `/imports/${id}/columns`)).body as { possibleEncodings: object[] };
  const { possibleEncodings } = await find();
  expect([state, possibleEncodings]).toEqual([
    "UNMAPPED",
    [
      { encoding: "windows-1252", samples: ["Mšller"] },
      { encoding: "macintosh", samples: ["Möller"] },
    ],
  ]);
  const uses = ["ID", "ROLE", "FIRST_NAME", "LAST_NAME"];
  const body = { uses, role: "COLUMN", className: null, idFromName: false, mode: "BULK" };
  await call("PUT", `/imports/${id}/columns`, { body: { ...body, encoding: "macintosh" } });
  expect(await find()).toMatchObject({ encoding: "macintosh", possibleEncodings: [] });
  expect((await call("PUT", `/imports/${id}/columns`, { body })).body).toMatchObject({ state: "READY" });
});
