import { beforeEach, expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import {
  applyImport,
  confirmUndo,
  findImport,
  leaveOutFaultyRows,
  listFaultyRows,
  listImportFaults,
  listWarnings,
  makeImportSweep,
  undoImport,
  type FaultyRow,
  type ImportId,
} from "../../src/imports/index.ts";
import type { Mapping } from "../../src/imports/formats/columns.ts";
import { storeOf } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { findTraces } from "../support/traces.ts";
import { makeImporter, now, origin, readDirectory, rules, zip } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview } = makeImporter(db);
let school: SchoolId;
let officialId: string;
let schools = 0;

beforeEach(async () => {
  officialId = `DE-F-${++schools}`;
  school = await make.school({ officialId });
});

const headings = "id;role;first_name;last_name;classes;remark";
const csv = (...rows: string[]) => [headings, ...rows, ""].join("\n");
const ofSchool = (lines: string[]) => lines.filter((line) => line.startsWith(officialId));
const directory = async () => {
  const { people, groups } = await readDirectory(db);
  return [...ofSchool(people), ...ofSchool(groups)].map((line) => line.slice(officialId.length + 1));
};

async function leaveOut(content: string | Buffer): Promise<ImportId> {
  const { id, state } = await preview(content, { school });
  expect(state).toBe("BROKEN");
  await leaveOutFaultyRows(db, await findImport(storeOf(db), id, undefined), 1, origin);
  return id;
}

const before = csv(
  "1;student;Ada;Alt;5a;",
  "2;student;Bo;Berg;5b;",
  "3;student;Cy;Cho;5c;",
  "4;student;Di;Dorn;5a;",
  "5;teacher;Ed;Eck;5a;",
);

test("people of left-out rows stay with their groups, others leave, and no event is about who stays", async () => {
  await run(before, { school });
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school });
  const known = await db.prisma.appEvent.count({ where: { clientId } });
  const id = await leaveOut(
    csv("1;student;Ada;Neu;5a;x", "2;wizard;Bo;Berg;5b;", "3;student;;Cho;5c;", "5;teacher;Ed;Eck;5a;"),
  );
  const record = await findImport(storeOf(db), id, undefined);
  expect(record).toMatchObject({ state: "READY", mode: "BULK", rows: { readable: 2, faulty: 2, withoutId: 0 } });
  expect(record.schools).toMatchObject([{ counts: { people: { changed: 1, removed: 1 }, groups: { removed: 0 } } }]);
  await applyImport(db, id, rules, origin);
  expect(await directory()).toEqual([
    `1 STUDENT Ada Ada Neu ${officialId}`,
    `2 STUDENT Bo Bo Berg ${officialId}`,
    `3 STUDENT Cy Cy Cho ${officialId}`,
    `5 TEACHER Ed Ed Eck ${officialId}`,
    "class:5a KLASSE 5a 1=STUDENT,5=TEACHER",
    "class:5b KLASSE 5b 2=STUDENT",
    "class:5c KLASSE 5c 3=STUDENT",
  ]);
  const where = { schoolId: school, action: "import_rows_left_out" };
  expect(await db.prisma.audit.findMany({ where })).toMatchObject([{ detail: { importId: id, rows: 2 } }]);
  const people = await db.prisma.person.findMany({ where: { homeSchoolId: school }, orderBy: { last: "asc" } });
  const events = await db.prisma.appEvent.findMany({ where: { clientId }, orderBy: { seq: "asc" }, skip: known });
  const withEvent = people.filter((person) => events.some(({ subjectId }) => subjectId === person.id));
  expect(withEvent.map(({ last }) => last)).toEqual(["Dorn", "Neu"]);
});

test.for([
  ["an empty id", ";student;Bo;Berg;5b;", 1],
  ["a row that has slipped", "student;Bo;Berg;5b;", 1],
  ["an id that is used twice", "1;student;Bo;Berg;5b;", 2],
  ["an id that a spreadsheet rounded", "2,0E+0;student;Bo;Berg;5b;", 1],
] as [string, string, number][])("with %s nobody leaves and no group ends", async ([, row, withoutId]) => {
  await run(before, { school });
  const id = await leaveOut(csv("1;student;Ada;Alt;5a;", row, "5;teacher;Ed;Eck;5a;"));
  const record = await findImport(storeOf(db), id, undefined);
  expect(record.rows).toMatchObject({ withoutId });
  expect(record.schools).toMatchObject([{ counts: { people: { removed: 0 }, groups: { removed: 0 } } }]);
  const was = await directory();
  await applyImport(db, id, rules, origin);
  expect(await directory()).toEqual(was);
});

test("the same row twice is left out once, and says whose it is", async () => {
  const { id, rows } = await preview(csv("1;student;Ada;Alt;5a;", "1;student;Ada;Alt;5a;", "2;student;Bo;Berg;5a;"), {
    school,
  });
  expect(rows).toEqual({ readable: 2, faulty: 1, withoutId: 0 });
  expect(await listFaultyRows(db, id, { limit: 10 })).toMatchObject([{ line: 3, sourceId: "1" }]);
});

test("of two different rows with one id both are left out, each with its reason", async () => {
  const { id, rows, errorCount } = await preview(
    csv("1;student;Ada;Alt;5a;", "2;student;Bo;Berg;5a;", "1;student;Cy;Cho;5a;"),
    {
      school,
    },
  );
  expect([rows, errorCount]).toEqual([{ readable: 1, faulty: 2, withoutId: 2 }, 2]);
  const faulty = await listFaultyRows(db, id, { limit: 10 });
  expect(faulty.map(({ line, faults: [fault] }) => [line, fault?.code, fault?.message])).toEqual([
    [2, "id_twice", "Duplicate id: also used in line 4."],
    [4, "id_twice", "Duplicate id: already used in line 2."],
  ]);
});

test("left-out rows are kept without columns that are not read, and handed in again corrected they are an addition", async () => {
  await run(before, { school });
  const id = await leaveOut(before.replace("5;teacher", '6;wizard;"Fe;e";Falk;5a|5d;secret " remark\n5;teacher'));
  await applyImport(db, id, rules, origin);
  const [row] = await listFaultyRows(db, id, { limit: 10 });
  expect(row).toMatchObject({ line: 6, fields: ["6", "wizard", "Fe;e", "Falk", "5a|5d", ""] });
  const { people } = await readDirectory(db);
  const corrected = `${headings};left_out_because\n6;student;Fee;Falk;5a|5d;;The role is not student.\n`;
  const added = await run(corrected, { school });
  expect(added).toMatchObject({ mode: "DELTA", schools: [{ counts: { people: { created: 1, removed: 0 } } }] });
  expect((await readDirectory(db)).people).toEqual(
    [...people, `${officialId} 6 STUDENT Fee Fee Falk ${officialId}`].sort(),
  );
});

const own: Mapping = {
  uses: ["LAST_NAME", "FIRST_NAME", "BIRTH_DATE", "CLASSES"],
  role: "STUDENT",
  className: null,
  idFromName: true,
  mode: "BULK",
};
const ownCsv = (...rows: string[]) => ["Name;Vorname;Geboren;Klasse;;", ...rows, ""].join("\n");
const ownRows = ["Alt;Ada;01.02.2014;5a;;", "Berg;Bo;03.04.2014;5b;;", "Cho;Cy;05.06.2014;5c;;"] as const;

test.for([
  ["date of birth", "Berg;Bo;1. April;5b;;"],
  ["first name", "Berg;;03.04.2014;5b;;"],
  ["last name", ";Bo;03.04.2014;5b;;"],
])("where ids are made of names, nobody leaves because of a row whose %s is wrong", async ([, row]) => {
  await run(ownCsv(...ownRows), { school, columns: own });
  const was = await directory();
  const { id, rows, errorCount } = await preview(ownCsv(ownRows[0], row!, ownRows[2]), { school, columns: own });
  expect([rows, errorCount]).toEqual([{ readable: 2, faulty: 1, withoutId: 1 }, 1]);
  await leaveOutFaultyRows(db, await findImport(storeOf(db), id, undefined), 1, origin);
  await applyImport(db, id, rules, origin);
  expect(await directory()).toEqual(was);
});

test("in a mapped file with empty columns at its end, a faulty row still says whose it is, and others leave", async () => {
  const columns: Mapping = { ...own, uses: ["ID", "FIRST_NAME", "LAST_NAME", "CLASSES"], idFromName: false };
  const file = (...rows: string[]) => ["Nr;Vorname;Name;Klasse;;", ...rows, ""].join("\n");
  await run(file("1;Ada;Alt;5a;;", "2;Bo;Berg;5b;;", "3;Cy;Cho;5b;;"), { school, columns });
  const { id, rows } = await preview(file("1;Ada;Alt;5a;;", "2;;Berg;5b;;"), { school, columns });
  expect(rows).toEqual({ readable: 1, faulty: 1, withoutId: 0 });
  await leaveOutFaultyRows(db, await findImport(storeOf(db), id, undefined), 1, origin);
  await applyImport(db, id, rules, origin);
  expect((await directory()).slice(0, 2)).toEqual([
    `1 STUDENT Ada Ada Alt ${officialId}`,
    `2 STUDENT Bo Bo Berg ${officialId}`,
  ]);
  const [{ fields }] = (await listFaultyRows(db, id, { limit: 10 })) as [FaultyRow];
  const corrected = `Nr;Vorname;Name;Klasse;;;left_out_because\n${fields.join(";").replace(";;Berg", ";Bodo;Berg")};x\n`;
  const added = await run(corrected, { school });
  expect(added).toMatchObject({ mode: "DELTA", schools: [{ counts: { people: { changed: 1, removed: 0 } } }] });
});

test("undoing an import leaves those alone whose rows were left out, and brings back all others", async () => {
  await run(before, { school });
  const was = await directory();
  const later = { ...origin, at: new Date(now.getTime() + 1000) };
  const id = await leaveOut(csv("1;student;Ada;Neu;6a;", "2;wizard;Bo;Berg;5b;", "6;student;Fe;Falk;6a;"));
  await applyImport(db, id, { ...rules, holdShare: 1 }, later);
  expect(await directory()).toContain(`2 STUDENT Bo Bo Berg ${officialId}`);
  const kept = await confirmUndo(db, id, { confirmed: undefined, now: later.at });
  await undoImport(db, id, { kept, restoreWindowDays: rules.restoreWindowDays }, later);
  expect(await directory()).toEqual(was);
  expect(await findImport(storeOf(db), id, undefined)).toMatchObject({ state: "UNDONE", rows: { faulty: 1 } });
  const added = await run(`${headings};left_out_because\n2;student;Bo;Berger;5b;;x\n`, { school });
  expect(added).toMatchObject({ mode: "DELTA", schools: [{ counts: { people: { changed: 1, removed: 0 } } }] });
});

test("faults that are not those of single rows leave nothing to leave out", async () => {
  for (const content of [
    "id;role;first_name;last_name;ROLE\n1;student;Ada;Alt;student\n",
    csv("1;student;Ada;Alt;5a;", '2;student;"Bo;Berg;5a;'),
    csv("1;wizard;Ada;Alt;5a;"),
  ]) {
    const { id, state, rows } = await preview(content, { school });
    expect([state, rows]).toEqual(["BROKEN", null]);
    const refused = leaveOutFaultyRows(db, await findImport(storeOf(db), id, undefined), 1, origin);
    await expect(refused).rejects.toMatchObject({ code: "faults_remain" });
    expect(await db.prisma.stagedPerson.count({ where: { importId: id } })).toBe(0);
  }
});

test("a file of changes leaves rows out too, and their people keep their groups", async () => {
  await run(before, { school });
  const { id } = await preview(csv("1;wizard;Ada;Alt;5b;", "2;student;Bo;Berg;5a;"), { school, mode: "DELTA" });
  await leaveOutFaultyRows(db, await findImport(storeOf(db), id, undefined), 1, origin);
  await applyImport(db, id, rules, origin);
  expect((await directory()).slice(-3)).toEqual([
    "class:5a KLASSE 5a 1=STUDENT,2=STUDENT,4=STUDENT,5=TEACHER",
    "class:5b KLASSE 5b",
    "class:5c KLASSE 5c 3=STUDENT",
  ]);
});

test("faulty rows are gone after seven days, and with them the choice to leave them out", async () => {
  const { id } = await preview(csv("1;student;Quirin;Unverwechselbar;5a;", "2;wizard;Bo;Eigenartig;5a;"), { school });
  const sweepAt = (days: number) =>
    makeImportSweep({ db, clock: () => new Date(now.getTime() + days * 86_400_000) }).run(new AbortController().signal);
  const words = ["Unverwechselbar", "Eigenartig"];
  await sweepAt(6.9);
  expect(Object.keys(await findTraces(db, words)).sort()).toEqual(["import_faulty_row", "staged_person"]);
  await sweepAt(7.1);
  expect(await findTraces(db, words)).toEqual({});
  expect(await findImport(storeOf(db), id, undefined)).toMatchObject({ state: "BROKEN", rows: null });
  expect(await listImportFaults(db, id)).toHaveLength(1);
});

test("what looks like a mistake is counted and listed with its line and name, and does not block", async () => {
  const record = await preview(
    csv(
      "1;student;Ada;Alt;5a;",
      "2;student;Bo;Berg;;",
      "3;student;ada;alt;5a;",
      "4;student;J?rg;M\ufffdßig;5A;",
      "01.05.2026;student;Di;Dorn;05. Mai;",
      "5;teacher;Ed;Eck;;",
      "6;student;Fe;Falk;45413;",
    ),
    { school },
  );
  expect([record.state, record.warningCount]).toEqual(["READY", 9]);
  const warnings = await listWarnings(db.pool, record, { skip: 0, limit: 100 });
  expect(warnings.map(({ line, kind, name, detail }) => [line, kind, name, detail])).toEqual([
    [3, "CLASS_MISSING", "Bo Berg", null],
    [2, "NAME_TWICE", "Ada Alt", "5a"],
    [4, "NAME_TWICE", "ada alt", "5a"],
    [2, "GROUP_SPELLING", "5a", "5A"],
    [5, "GROUP_SPELLING", "5A", "5a"],
    [6, "DATE_IN_PLACE", "05. Mai", null],
    [6, "DATE_IN_PLACE", "Di Dorn", "01.05.2026"],
    [8, "DATE_IN_PLACE", "45413", null],
    [5, "CHARACTERS_LOST", "J?rg M\ufffdßig", null],
  ]);
  expect(await listWarnings(db.pool, record, { skip: 3, limit: 2 })).toEqual(warnings.slice(3, 5));
  await applyImport(db, record.id, rules, origin);
});

test("a usual file has no warnings", async () => {
  const record = await preview(
    csv(
      "1;student;Ada;Alt;5a|Mathe;",
      "2;student;Ada;Alt;5b;",
      "3;student;Bo;Mai;10a;",
      "4;teacher;Cy;Jun;;",
      "5;student;Di;Dez;E1;",
    ),
    { school },
  );
  expect(record.warningCount).toBe(0);
  const { warningCount } = await preview("id;role;first_name;last_name\n1;student;Ada;Alt\n", { school });
  expect(warningCount).toBe(0);
});

await make.school({ officialId: "DE-F-0" });

const record = (pid: unknown, rolle: string, name = "5a", more: object = {}) => ({
  pid,
  person: { name: { vorname: String(pid), familienname: "Muster" } },
  personenkontexte: [
    {
      id: `k-${String(pid)}`,
      organisation: { kennung: officialId, typ: "Schule" },
      rolle,
      gruppen: [
        {
          gruppe: { id: `${officialId}-${name}`, bezeichnung: name, typ: "Klasse" },
          gruppenzugehoerigkeit: { rollen: [] },
        },
      ],
    },
  ],
  ...more,
});
const whole = () => [record("1", "Lern"), record("2", "Lern", "5b"), record("3", "Lern"), record("4", "Lehr")];
const namesOf = (lines: string[]) => lines.map((line) => line.replaceAll(`${officialId}-`, ""));

test.each([
  ["of one line", 0],
  ["of a line per value", 1],
])("faulty records of a JSON file %s are left out: nobody of them leaves, others do", async (_, indent) => {
  await run(JSON.stringify(whole()));
  const [one, , , four] = whole();
  const parent = { ...record("9", "SorgBer"), person: 7 };
  const changed = [
    parent,
    { ...one, person: { name: null } },
    record("2", "Neu", "5b"),
    four,
    record("5", "Lern", "5c"),
  ];
  const id = await leaveOut(JSON.stringify(changed, null, indent));
  expect(await listFaultyRows(db, id, { limit: 9 })).toMatchObject([
    { line: 3, fields: ["2", "2", "Muster"], sourceId: "2", faults: [{ code: "unknown_role" }] },
  ]);
  await applyImport(db, id, rules, origin);
  expect(namesOf(await directory())).toEqual([
    `1 STUDENT ${officialId}`,
    `2 STUDENT 2 2 Muster ${officialId}`,
    `4 TEACHER 4 4 Muster ${officialId}`,
    `5 STUDENT 5 5 Muster ${officialId}`,
    "5a KLASSE 5a 1=STUDENT,4=TEACHER",
    "5b KLASSE 5b 2=STUDENT",
    "5c KLASSE 5c 5=STUDENT",
  ]);
});

test.each<[string, (records: string[]) => string[], (string | null)[]]>([
  ["is not JSON", ([one, ...rest]) => [one!, "{\n\n nonsense: }", ...rest], [null]],
  ["is not an object", ([one, ...rest]) => [one!, "7", ...rest], [null]],
  ["is too deep", ([one, ...rest]) => [one!, `${"[".repeat(40)}\n${"]".repeat(40)}`, ...rest], [null]],
  ["has no id", ([one, ...rest]) => [one!, JSON.stringify(record(null, "Lern")), ...rest], [null]],
  ["has no list of contexts", (all) => [...all, JSON.stringify({ pid: "7", personenkontexte: 7 })], ["7"]],
  ["is there twice", (all) => [...all, JSON.stringify(record("2", "Lehr", "5b"))], [null, null]],
  ["names another school", (all) => [...all, JSON.stringify(record("7", "Lern")).replace(officialId, "DE-F-0")], ["7"]],
])("a JSON record that %s is left out; without a reliable id nobody leaves", async (_, spoil, sourceIds) => {
  await run(JSON.stringify([...whole(), record("6", "Lern", "6a")]));
  const id = await leaveOut(`[${spoil(whole().map((one) => JSON.stringify(one))).join(",\n")}]`);
  const rows = await listFaultyRows(db, id, { limit: 9 });
  expect(rows.map(({ sourceId }) => sourceId)).toEqual(sourceIds);
  expect(rows.every(({ faults }) => faults.length > 0)).toBe(true);
  await applyImport(db, id, rules, origin);
  const people = (await directory()).filter((line) => /^[0-9] /.test(line)).map((line) => line[0]);
  expect(people).toEqual(["1", "2", "3", "4", ...(sourceIds.includes(null) ? ["6"] : [])]);
});

test.each(["{}", "[", "[7 7]", "[7]"])(
  "a JSON file with other faults, %s, has no records to leave out",
  async (file) => {
    expect(await preview(file, { school })).toMatchObject({ state: "BROKEN", rows: null });
  },
);

type Archive = Record<"orgs" | "users" | "roles" | "classes" | "enrollments", string[]>;
const archiveHead: Archive = {
  orgs: ["sourcedId,type,identifier"],
  users: ["sourcedId,givenName,familyName,orgSourcedIds,role"],
  roles: ["sourcedId,userSourcedId,roleType,role,orgSourcedId"],
  classes: ["sourcedId,title,classType,schoolSourcedId"],
  enrollments: ["sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role"],
};

/** Users 1 to 5, of whom 5 teaches; 1 and 2 are in class a, 3 and 4 in class b, 5 in both. */
function wholeArchive(version: string): Archive {
  const ids = ["1", "2", "3", "4", "5"];
  const role = (id: string) => (id === "5" ? "teacher" : "student");
  const is12 = version === "1.2";
  const members = ["a1", "a2", "b3", "b4", "a5", "b5"];
  return {
    orgs: [`o,school,${officialId}`],
    users: ids.map((id) => (is12 ? `${id},N${id},Muster` : `${id},N${id},Muster,o,${role(id)}`)),
    roles: is12 ? ids.map((id) => `r${id},${id},primary,${role(id)},o`) : [],
    classes: ["a,5a,homeroom,o", "b,5b,homeroom,o"],
    enrollments: members.map((pair) => `e${pair},${pair[0]!},o,${pair[1]!},${role(pair[1]!)}`),
  };
}

const pack = (archive: Archive, more: Record<string, string> = {}) => {
  const written = (name: keyof Archive) => {
    const [head] = archiveHead[name] as [string];
    const headOf = name === "users" && archive.roles.length > 0 ? "sourcedId,givenName,familyName" : head;
    return [headOf, ...archive[name], ""].join("\n");
  };
  const names = (Object.keys(archiveHead) as (keyof Archive)[]).filter(
    (n) => n !== "roles" || archive.roles.length > 0,
  );
  return zip({ ...Object.fromEntries(names.map((name) => [`${name}.csv`, written(name)])), ...more });
};

type Spoil = { version?: string; file: keyof Archive; from: RegExp; to: string };
type Expected = { rows: string[]; leaves?: boolean; b?: string; dependent?: number };

test.each<[string, Spoil, Expected]>([
  [
    "a user with an unknown role",
    { file: "users", from: /^2,(.*),student$/, to: "2,$1,wizard" },
    { rows: ["users.csv 2 2  unknown_role"], dependent: 1 },
  ],
  [
    "a user without a first name",
    { file: "users", from: /^4,N4/, to: "4," },
    { rows: ["users.csv 4 4  value_missing"], dependent: 1 },
  ],
  [
    "a user at an unknown organisation",
    { file: "users", from: /^4,(.*),o,/, to: "4,$1,x," },
    { rows: ["users.csv 4 4  unknown_org"], dependent: 1 },
  ],
  [
    "a role that is unknown",
    { version: "1.2", file: "roles", from: /^r4,(.*)student/, to: "r4,$1wizard" },
    { rows: ["roles.csv 4 4  unknown_role"], dependent: 2 },
  ],
  [
    "a user without a role",
    { version: "1.2", file: "roles", from: /^r4,.*/, to: "r5b,5,secondary,aide,o" },
    { rows: ["users.csv 4 4  role_missing"], dependent: 1 },
  ],
  [
    "a class without a name",
    { file: "classes", from: /^b,5b/, to: "b," },
    { rows: ["classes.csv 3  b value_missing"], dependent: 3 },
  ],
  [
    "a class at no school",
    { file: "classes", from: /^(b.*),o$/, to: "$1,x" },
    { rows: ["classes.csv 3  b unknown_org"], dependent: 3 },
  ],
  [
    "an enrollment with an unknown role",
    { file: "enrollments", from: /^(eb4.*),student/, to: "$1,wizard" },
    { rows: ["enrollments.csv 4 4 b unknown_role"] },
  ],
  [
    "an enrollment of an unknown user",
    { file: "enrollments", from: /^(eb4.*),4,student/, to: "$1,99,student" },
    { rows: ["enrollments.csv 4 99 b unknown_person"], b: "3=STUDENT,5=TEACHER" },
  ],
  [
    "an enrollment in an unknown class",
    { file: "enrollments", from: /^eb4,b/, to: "eb4,z" },
    { rows: ["enrollments.csv 4 4 z unknown_group"], b: "3=STUDENT,5=TEACHER" },
  ],
  [
    "an enrollment without a class",
    { file: "enrollments", from: /^eb4,b/, to: "eb4," },
    { rows: ["enrollments.csv 4 4  value_missing"] },
  ],
  [
    "an enrollment without a user",
    { file: "enrollments", from: /^(eb4.*),4,student/, to: "$1,,student" },
    { rows: ["enrollments.csv 4  b value_missing"], leaves: false },
  ],
  [
    "a user with too many fields",
    { file: "users", from: /^4,.*/, to: "$&,more" },
    { rows: ["users.csv 4 4  field_count"], leaves: false, dependent: 1 },
  ],
  [
    "an id that is used twice",
    { file: "users", from: /^4,.*/, to: "$&\n$&" },
    { rows: ["users.csv 5 4  id_twice"], leaves: false, dependent: 2 },
  ],
  [
    "a guardian with too many fields",
    { file: "users", from: /^4,(.*),student/, to: "$&\n9,$1,guardian,more" },
    { rows: ["users.csv 5   field_count"], leaves: false },
  ],
])("OneRoster: %s is left out with what depends on it, and makes nobody leave", async (_, spoil, expected) => {
  const { version = "1.1", file, from, to } = spoil;
  const all = wholeArchive(version);
  await run(await pack(all));
  const was = await directory();
  // The first user of each list leaves, unless a row may be anybody's.
  const withoutFirst = (lines: string[]) => lines.slice(1);
  const next: Archive = {
    ...all,
    users: withoutFirst(all.users),
    roles: withoutFirst(all.roles),
    enrollments: withoutFirst(all.enrollments),
  };
  next[file] = next[file].map((line) => line.replace(from, to));
  const id = await leaveOut(await pack(next));
  const { leaves = true, rows, dependent, b = "3=STUDENT,4=STUDENT,5=TEACHER" } = expected;
  const { notes, rows: counts } = await findImport(storeOf(db), id, undefined);
  const listed = await listFaultyRows(db, id, { limit: 9 });
  expect(listed.map(({ fields, faults: [fault] }) => `${fields.slice(0, 4).join(" ")} ${fault!.code}`)).toEqual(rows);
  expect(listed.map(({ fields: [name, line] }) => `${name} ${line}`)).toEqual(
    listed.map(({ faults: [fault] }) => `${fault!.file} ${fault!.line}`),
  );
  expect(counts).toMatchObject({ faulty: rows.length, withoutId: leaves ? 0 : rows.length });
  expect(notes["rows_of_faulty_rows"]).toBe(dependent);
  await applyImport(db, id, rules, origin);
  expect(await directory()).toEqual(
    was
      .filter((line) => !leaves || !line.startsWith("1 "))
      .map((line) => (leaves && line.startsWith("a ") ? line.replace("1=STUDENT,", "") : line))
      .map((line) => (line.startsWith("b ") ? `b KLASSE 5b ${b}` : line)),
  );
});

test("OneRoster: rows of a delta are left out, and faults of whole files leave nothing to leave out", async () => {
  const all = wholeArchive("1.1");
  await run(await pack(all));
  const was = await directory();
  const delta = {
    "manifest.csv": "propertyName,value\nfile.users,delta\nfile.classes,delta\nfile.enrollments,delta\n",
  };
  const changed = { ...all, users: ["2,Neu,Muster,o,wizard", "3,Neu,Muster,o,student"], classes: [] };
  const id = await leaveOut(await pack({ ...changed, enrollments: ["e,b,o,2,student"] }, delta));
  await applyImport(db, id, rules, origin);
  expect(await directory()).toEqual(was.map((line) => line.replace(/N3/g, "Neu")));
  for (const broken of [
    { ...all, orgs: [...all.orgs, "o2,school,DE-F-NONE"] },
    { ...all, users: all.users.map((line) => line.replace(/student|teacher/, "wizard")) },
    { ...all, enrollments: [...all.enrollments, 'e,"a,o,1,student'] },
  ])
    expect(await preview(await pack(broken))).toMatchObject({ state: "BROKEN", rows: null });
});
