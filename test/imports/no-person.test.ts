import { expect, test } from "vitest";
import { listWarnings } from "../../src/imports/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter, type Wishes } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview } = makeImporter(db);

const uses = ["ID", "LAST_NAME", "FIRST_NAME", "CLASSES"] as const;
const columns: Wishes["columns"] = { uses, role: "STUDENT", className: null, idFromName: false, mode: "BULK" };
const latin1 = (...lines: string[]) => Buffer.from(lines.join("\r\n"), "latin1");
const namesOf = async (school: string) =>
  (
    await db.prisma.person.findMany({
      where: { homeSchoolId: school, status: "ACTIVE" },
      orderBy: { sourceSystemIdentifier: "asc" },
    })
  ).map(({ sourceSystemIdentifier: id, last }) => `${id} ${last}`);

test("sums, footers, headings once more and lone values are named and passed over", async () => {
  const school = await make.school({});
  const file = latin1(
    "Schüler-Nr.;Nachname;Vorname;Klasse",
    "17;Öz;Ada;5a",
    "Klasse 5b;;;",
    "Schüler-Nr.;Nachname;Vorname;Klasse",
    "18;Summe;Bo;5b",
    "19;Stand;Eva;5b",
    "Summe Klasse 5b:;2;;",
    ";;;2",
    ";;Anzahl;2",
    "Summe;Schüler;120;",
    "120;22;20;",
    "3",
    "Stand: 01.09.2026",
    ";Seite 1 von 2;;Schule",
  );
  const done = await run(file, { school, columns });
  expect(await namesOf(school)).toEqual(["17 Öz", "18 Summe", "19 Stand"]);
  expect(done).toMatchObject({ errorCount: 0, warningCount: 10 });
});

test("the rows that are passed over are warnings with their lines", async () => {
  const school = await make.school({});
  const file = latin1("Nr.;Nachname;Vorname;Klasse", "17;Öz;Ada;5a", "Summe;;;120", "Stand: 01.09.2026");
  const shown = await preview(file, { school, columns });
  expect(await listWarnings(db.pool, shown, { skip: 0, limit: 10 })).toMatchObject([
    { line: 3, kind: "NO_PERSON", name: "Summe 120" },
    { line: 4, kind: "NO_PERSON", name: "Stand: 01.09.2026" },
  ]);
});

test("who has only their number left in the file stays, and a person without a number is an error", async () => {
  const school = await make.school({});
  await run(latin1("Nr.;Nachname;Vorname;Klasse", "17;Öz;Ada;5a", "18;Ek;Bo;5a"), { school, columns });
  await run(latin1("Nr.;Nachname;Vorname;Klasse", "17;Öz;Ada;5a", "18;;;"), { school, columns });
  expect(await namesOf(school)).toEqual(["17 Öz", "18 Ek"]);
  const broken = await preview(latin1("Nr.;Nachname;Vorname;Klasse", "17;Öz;Ada;5a", ";Stand;Eva;5a"), {
    school,
    columns,
  });
  expect(broken).toMatchObject({ state: "BROKEN", errorCount: 1 });
});

test("two classes in one cell are two, and a name with a slash is one", async () => {
  const school = await make.school({});
  const rows = ["17;Öz;Ada;07A/07B", "18;Ek;Bo;07A / 07B", "19;Groß;Eva;5/1", "20;Im;Ida;7a/b"];
  await run(latin1("Nr.;Nachname;Vorname;Klasse", ...rows), { school, columns });
  const groups = await db.prisma.group.findMany({ where: { schoolId: school }, orderBy: { name: "asc" } });
  expect(groups.map(({ name }) => name).toSorted()).toEqual(["07A", "07B", "5/1", "7a/b"]);
});

test("a template without names keeps its people", async () => {
  const school = await make.school({});
  const file = "id;role;first_name;last_name;classes\n17;student;;;5a\n18;student;;;05\nSumme;;;;2\n";
  await run(file, { school });
  expect(await namesOf(school)).toEqual(["17 null", "18 null"]);
});
