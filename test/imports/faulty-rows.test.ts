import { expect, test } from "vitest";
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
import { makeImporter, now, origin, readDirectory, rules, zip, type Wishes } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview, apply } = makeImporter(db);

type School = { school: SchoolId; officialId: string };
let schools = 0;
async function makeSchool(): Promise<School> {
  const officialId = `DE-F-${++schools}`;
  return { school: await make.school({ officialId }), officialId };
}

const headings = "id;role;first_name;last_name;classes;remark";
const csv = (...rows: string[]) => [headings, ...rows, ""].join("\n");
const find = (id: ImportId) => findImport(storeOf(db), id, undefined);

/** The people and groups of a school, without its id. */
async function directory({ officialId }: School): Promise<string[]> {
  const { people, groups } = await readDirectory(db);
  return [...people, ...groups]
    .filter((line) => line.startsWith(`${officialId} `))
    .map((line) => line.replaceAll(officialId, "").trim());
}

async function leaveOut(content: string | Buffer, wishes: Wishes = {}): Promise<ImportId> {
  const { id, state } = await preview(content, wishes);
  expect(state).toBe("BROKEN");
  await leaveOutFaultyRows(db, await find(id), 1, origin);
  return id;
}

/** What is left of a file without its faulty rows: how many these are, and whom and what it takes away. */
async function effectOf(content: string | Buffer, wishes: Wishes = {}) {
  const id = await leaveOut(content, wishes);
  const { rows, schools: parts, notes } = await find(id);
  const sum = (what: "people" | "groups" | "memberships") =>
    parts.reduce((all, { counts }) => all + counts[what].removed, 0);
  const listed = await listFaultyRows(db, id, { limit: 9 });
  const removed = [sum("people"), sum("groups"), sum("memberships")];
  return { rows, removed, dependent: notes["rows_of_faulty_rows"] ?? 0, listed };
}

const before = csv(
  "1;student;Ada;Alt;5a;",
  "2;student;Bo;Berg;5b;",
  "3;student;Cy;Cho;5c;",
  "4;student;Di;Dorn;5a;",
  "5;teacher;Ed;Eck;5a;",
);
/** A school with the roster above. */
async function startSchool(): Promise<School> {
  const made = await makeSchool();
  await run(before, made);
  return made;
}

test("people of left-out rows stay with their groups, others leave, and no event is about who stays", async () => {
  const at = await startSchool();
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school: at.school });
  const known = await db.prisma.appEvent.count({ where: { clientId } });
  const id = await leaveOut(
    csv("1;student;Ada;Neu;5a;x", "2;wizard;Bo;Berg;5b;", "3;student;;Cho;5c;", "5;teacher;Ed;Eck;5a;"),
    at,
  );
  const record = await find(id);
  expect(record).toMatchObject({ state: "READY", mode: "BULK", rows: { readable: 2, faulty: 2, withoutId: 0 } });
  expect(record.schools).toMatchObject([{ counts: { people: { changed: 1, removed: 1 }, groups: { removed: 0 } } }]);
  await apply(id);
  expect(await directory(at)).toEqual([
    "1 STUDENT Ada Ada Neu",
    "2 STUDENT Bo Bo Berg",
    "3 STUDENT Cy Cy Cho",
    "5 TEACHER Ed Ed Eck",
    "class:5a KLASSE 5a 1=STUDENT,5=TEACHER",
    "class:5b KLASSE 5b 2=STUDENT",
    "class:5c KLASSE 5c 3=STUDENT",
  ]);
  const where = { schoolId: at.school, action: "import_rows_left_out" };
  expect(await db.prisma.audit.findMany({ where, orderBy: { id: "asc" } })).toMatchObject([
    { detail: { importId: id, rows: 2 } },
  ]);
  const people = await db.prisma.person.findMany({ where: { homeSchoolId: at.school }, orderBy: { last: "asc" } });
  const events = await db.prisma.appEvent.findMany({ where: { clientId }, orderBy: { seq: "asc" }, skip: known });
  const withEvent = people.filter((person) => events.some(({ subjectId }) => subjectId === person.id));
  expect(withEvent.map(({ last }) => last)).toEqual(["Dorn", "Neu"]);
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

test("nobody leaves and no group ends because of rows whose id is not known for certain", async () => {
  const [at, named] = [await startSchool(), await makeSchool()];
  const columns = { ...named, columns: own };
  await run(ownCsv(...ownRows), columns);
  const withRow = (row: string) => effectOf(csv("1;student;Ada;Alt;5a;", row, "5;teacher;Ed;Eck;5a;"), at);
  const withName = (row: string) => effectOf(ownCsv(ownRows[0], row, ownRows[2]), columns);
  const found = {
    "an empty id": await withRow(";student;Bo;Berg;5b;"),
    "a row that has slipped": await withRow("student;Bo;Berg;5b;"),
    "an id that is used twice": await withRow("1;student;Bo;Berg;5b;"),
    "an id that a spreadsheet rounded": await withRow("2,0E+0;student;Bo;Berg;5b;"),
    "a wrong date of birth, where ids are made of names": await withName("Berg;Bo;1. April;5b;;"),
    "no first name": await withName("Berg;;03.04.2014;5b;;"),
  };
  const one = { rows: { readable: 2, faulty: 1, withoutId: 1 }, removed: [0, 0, 0] };
  expect(found).toMatchObject({
    ...Object.fromEntries(Object.keys(found).map((name) => [name, one])),
    "an id that is used twice": { rows: { readable: 1, faulty: 2, withoutId: 2 }, removed: [0, 0, 0] },
  });
});

test("the same row twice is left out once; of two different ones with one id both are, each with its reason", async () => {
  const at = await makeSchool();
  const same = await preview(csv("1;student;Ada;Alt;5a;", "1;student;Ada;Alt;5a;", "2;student;Bo;Berg;5a;"), at);
  expect(same.rows).toEqual({ readable: 2, faulty: 1, withoutId: 0 });
  expect(await listFaultyRows(db, same.id, { limit: 10 })).toMatchObject([{ line: 3, sourceId: "1" }]);
  const other = await preview(csv("1;student;Ada;Alt;5a;", "2;student;Bo;Berg;5a;", "1;student;Cy;Cho;5a;"), at);
  expect([other.rows, other.errorCount]).toEqual([{ readable: 1, faulty: 2, withoutId: 2 }, 2]);
  const faulty = await listFaultyRows(db, other.id, { limit: 10 });
  expect(faulty.map(({ line, faults: [fault] }) => [line, fault?.code, fault?.message])).toEqual([
    [2, "id_twice", "Duplicate id: also used in line 4."],
    [4, "id_twice", "Duplicate id: already used in line 2."],
  ]);
});

test("left-out rows are kept without columns that are not read, and handed in again corrected they are an addition", async () => {
  const at = await startSchool();
  const faulty = before.replace("5;teacher", '6;wizard;"Fe;e";Falk;5a|5d;secret " remark\n5;teacher');
  const id = await leaveOut(faulty, at);
  await apply(id);
  const [row] = await listFaultyRows(db, id, { limit: 10 });
  expect(row).toMatchObject({ line: 6, fields: ["6", "wizard", "Fe;e", "Falk", "5a|5d", ""] });
  const was = await directory(at);
  const corrected = `${headings};left_out_because\n6;student;Fee;Falk;5a|5d;;The role is not student.\n`;
  const added = await run(corrected, at);
  expect(added).toMatchObject({ mode: "DELTA", schools: [{ counts: { people: { created: 1, removed: 0 } } }] });
  expect((await directory(at)).filter((line) => !was.includes(line))).toEqual([
    "6 STUDENT Fee Fee Falk",
    "class:5a KLASSE 5a 1=STUDENT,4=STUDENT,5=TEACHER,6=STUDENT",
    "class:5d KLASSE 5d 6=STUDENT",
  ]);
});

test("in a mapped file with empty columns at its end, a faulty row still says whose it is, and others leave", async () => {
  const columns: Mapping = { ...own, uses: ["ID", "FIRST_NAME", "LAST_NAME", "CLASSES"], idFromName: false };
  const at = await makeSchool();
  const file = (...rows: string[]) => ["Nr;Vorname;Name;Klasse;;", ...rows, ""].join("\n");
  await run(file("1;Ada;Alt;5a;;", "2;Bo;Berg;5b;;", "3;Cy;Cho;5b;;"), { ...at, columns });
  const id = await leaveOut(file("1;Ada;Alt;5a;;", "2;;Berg;5b;;"), { ...at, columns });
  expect((await find(id)).rows).toEqual({ readable: 1, faulty: 1, withoutId: 0 });
  await apply(id);
  expect((await directory(at)).slice(0, 2)).toEqual(["1 STUDENT Ada Ada Alt", "2 STUDENT Bo Bo Berg"]);
  const [{ fields }] = (await listFaultyRows(db, id, { limit: 10 })) as [FaultyRow];
  const corrected = `Nr;Vorname;Name;Klasse;;;left_out_because\n${fields.join(";").replace(";;Berg", ";Bodo;Berg")};x\n`;
  const added = await run(corrected, at);
  expect(added).toMatchObject({ mode: "DELTA", schools: [{ counts: { people: { changed: 1, removed: 0 } } }] });
});

test("undoing an import leaves those alone whose rows were left out, and brings back all others", async () => {
  const at = await startSchool();
  const was = await directory(at);
  const later = { ...origin, at: new Date(now.getTime() + 1000) };
  const id = await leaveOut(csv("1;student;Ada;Neu;6a;", "2;wizard;Bo;Berg;5b;", "6;student;Fe;Falk;6a;"), at);
  await applyImport(db, id, { ...rules, holdShare: 1 }, later);
  expect(await directory(at)).toContain("2 STUDENT Bo Bo Berg");
  const kept = await confirmUndo(db, id, { confirmed: undefined, now: later.at });
  await undoImport(db, id, { kept, restoreWindowDays: rules.restoreWindowDays }, later);
  expect(await directory(at)).toEqual(was);
  expect(await find(id)).toMatchObject({ state: "UNDONE", rows: { faulty: 1 } });
  const added = await run(`${headings};left_out_because\n2;student;Bo;Berger;5b;;x\n`, at);
  expect(added).toMatchObject({ mode: "DELTA", schools: [{ counts: { people: { changed: 1, removed: 0 } } }] });
});

test("a file of changes leaves rows out too, and their people keep their groups", async () => {
  const at = await startSchool();
  await apply(await leaveOut(csv("1;wizard;Ada;Alt;5b;", "2;student;Bo;Berg;5a;"), { ...at, mode: "DELTA" }));
  expect((await directory(at)).slice(-3)).toEqual([
    "class:5a KLASSE 5a 1=STUDENT,2=STUDENT,4=STUDENT,5=TEACHER",
    "class:5b KLASSE 5b",
    "class:5c KLASSE 5c 3=STUDENT",
  ]);
});

test("faulty rows are gone after seven days, and with them the choice to leave them out", async () => {
  const { id } = await preview(
    csv("1;student;Quirin;Unverwechselbar;5a;", "2;wizard;Bo;Eigenartig;5a;"),
    await makeSchool(),
  );
  const sweepAt = (days: number) =>
    makeImportSweep({ db, clock: () => new Date(now.getTime() + days * 86_400_000) }).run(new AbortController().signal);
  const words = ["Unverwechselbar", "Eigenartig"];
  await sweepAt(6.9);
  expect(Object.keys(await findTraces(db, words)).sort()).toEqual(["import_faulty_row", "staged_person"]);
  await sweepAt(7.1);
  expect(await findTraces(db, words)).toEqual({});
  expect(await find(id)).toMatchObject({ state: "BROKEN", rows: null });
  expect(await listImportFaults(db, id)).toHaveLength(1);
});

test("what looks like a mistake is counted and listed with its line and name, and does not block", async () => {
  const at = await makeSchool();
  const record = await preview(
    csv(
      "1;student;Ada;Alt;5a;",
      "2;student;Bo;Berg;;",
      "3;student;ada;alt;5a;",
      "4;student;J?rg;M\ufffdßig;5A;",
      "01.05.2026;student;Di;Dorn;05. Mai;",
      "5;teacher;Ed;Eck;;",
      "6;student;Fe;Falk;45413;",
      "7;teacher;Gül;MÃ¼ÃŸig;;",
    ),
    at,
  );
  expect([record.state, record.warningCount]).toEqual(["READY", 10]);
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
    [9, "CHARACTERS_LOST", "Gül MÃ¼ÃŸig", null],
  ]);
  expect(await listWarnings(db.pool, record, { skip: 3, limit: 2 })).toEqual(warnings.slice(3, 5));
  await apply(record.id);
  const usual = ["1;student;Ada;Alt;5a|Mathe;", "2;student;Ada;Alt;5b;", "3;student;Bo;Mai;10a;"];
  for (const file of [
    csv(...usual, "4;teacher;Cy;Jun;;", "5;student;Di;Dez;E1;"),
    "id;role;first_name;last_name\n1;student;Ada;Alt\n",
  ])
    expect((await preview(file, at)).warningCount).toBe(0);
});

const record = (at: School, pid: unknown, rolle: string, name = "5a", more: object = {}) => ({
  pid,
  person: { name: { vorname: String(pid), familienname: "Muster" } },
  personenkontexte: [
    {
      organisation: { kennung: at.officialId, typ: "Schule" },
      rolle,
      gruppen: [
        {
          gruppe: { id: `${at.officialId}-${name}`, bezeichnung: name, typ: "Klasse" },
          gruppenzugehoerigkeit: { rollen: [] },
        },
      ],
    },
  ],
  ...more,
});
const whole = (at: School) => [
  record(at, "1", "Lern"),
  record(at, "2", "Lern", "5b"),
  record(at, "3", "Lern"),
  record(at, "4", "Lehr"),
];

test("faulty records of a JSON file are left out: nobody of them leaves, others do", async () => {
  const at = await makeSchool();
  await run(JSON.stringify(whole(at)));
  const [one, , , four] = whole(at);
  const changed = [
    { ...record(at, "9", "SorgBer"), person: 7 },
    { ...one, person: { name: null } },
    record(at, "2", "Neu", "5b"),
    four,
    record(at, "5", "Lern", "5c"),
  ];
  const id = await leaveOut(JSON.stringify(changed, null, 1));
  expect(await listFaultyRows(db, id, { limit: 9 })).toMatchObject([
    { line: 3, fields: ["2", "2", "Muster"], sourceId: "2", faults: [{ code: "unknown_role" }] },
  ]);
  await apply(id);
  expect(await directory(at)).toEqual([
    "1 STUDENT",
    "2 STUDENT 2 2 Muster",
    "4 TEACHER 4 4 Muster",
    "5 STUDENT 5 5 Muster",
    "-5a KLASSE 5a 1=STUDENT,4=TEACHER",
    "-5b KLASSE 5b 2=STUDENT",
    "-5c KLASSE 5c 5=STUDENT",
  ]);
});

test("of a JSON file the faulty records are left out; without a reliable id nobody leaves", async () => {
  const [at, elsewhere] = [await makeSchool(), await makeSchool()];
  await run(JSON.stringify([...whole(at), record(at, "6", "Lern", "6a")]));
  const text = (value: unknown) => JSON.stringify(value);
  const all = whole(at).map(text);
  const within = (one: string) => effectOf(`[${[all[0], one, ...all.slice(1)].join(",\n")}]`);
  const found = {
    "not JSON": await within("{\n\n nonsense: }"),
    "not an object": await within("7"),
    "too deep": await within(`${"[".repeat(40)}\n${"]".repeat(40)}`),
    "without an id": await within(text(record(at, null, "Lern"))),
    "there twice": await within(text(record(at, "2", "Lehr", "5b"))),
    "without a list of contexts": await within(text({ pid: "7", personenkontexte: 7 })),
    "of another school": await within(text(record(at, "7", "Lern")).replace(at.officialId, elsewhere.officialId)),
  };
  const outcome = Object.entries(found).map(([name, { listed, removed }]) => {
    expect(listed.every(({ faults }) => faults.length > 0)).toBe(true);
    return [name, listed.map(({ sourceId }) => sourceId), removed];
  });
  expect(outcome).toEqual([
    ["not JSON", [null], [0, 0, 0]],
    ["not an object", [null], [0, 0, 0]],
    ["too deep", [null], [0, 0, 0]],
    ["without an id", [null], [0, 0, 0]],
    ["there twice", [null, null], [0, 0, 0]],
    ["without a list of contexts", ["7"], [1, 1, 0]],
    ["of another school", ["7"], [1, 1, 0]],
  ]);
  for (const file of ["{}", "[", "[7 7]", "[7]"])
    expect(await preview(file, at)).toMatchObject({ state: "BROKEN", rows: null });
});

type Archive = Record<"orgs" | "users" | "roles" | "classes" | "enrollments", string[]>;
const archiveHead: Record<keyof Archive, string> = {
  orgs: "sourcedId,type,identifier",
  users: "sourcedId,givenName,familyName,orgSourcedIds,role",
  roles: "sourcedId,userSourcedId,roleType,role,orgSourcedId",
  classes: "sourcedId,title,classType,schoolSourcedId",
  enrollments: "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role",
};

/** Users 1 to 5, of whom 5 teaches; 1 and 2 are in class a, 3 and 4 in class b, 5 in both. */
function wholeArchive({ officialId }: School, version: string): Archive {
  const ids = ["1", "2", "3", "4", "5"];
  const role = (id: string) => (id === "5" ? "teacher" : "student");
  const is12 = version === "1.2";
  return {
    orgs: [`o,school,${officialId}`],
    users: ids.map((id) => (is12 ? `${id},N${id},Muster` : `${id},N${id},Muster,o,${role(id)}`)),
    roles: is12 ? ids.map((id) => `r${id},${id},primary,${role(id)},o`) : [],
    classes: ["a,5a,homeroom,o", "b,5b,homeroom,o"],
    enrollments: ["a1", "a2", "b3", "b4", "a5", "b5"].map(
      (pair) => `e${pair},${pair[0]!},o,${pair[1]!},${role(pair[1]!)}`,
    ),
  };
}

function pack({ roles, ...archive }: Archive, more: Record<string, string> = {}) {
  const files = { ...archive, ...(roles.length > 0 && { roles }) } as Partial<Archive>;
  const heads = { ...archiveHead, ...(roles.length > 0 && { users: "sourcedId,givenName,familyName" }) };
  const written = Object.entries(files).map(([name, lines]) => [
    `${name}.csv`,
    [heads[name as keyof Archive], ...lines, ""].join("\n"),
  ]);
  return zip({ ...(Object.fromEntries(written) as Record<string, string>), ...more });
}

type Effect = { dependent?: number; leaves?: boolean; members?: number };
type Spoiled = [what: string, file: keyof Archive, from: RegExp, to: string, row: string, effect?: Effect];

/** A line of each archive that is wrong, the row that is then left out, and what goes with it. */
const spoiled: Spoiled[] = [
  ["role", "users", /^2,(.*),student$/, "2,$1,wizard", "users.csv 2 2  unknown_role", { dependent: 1 }],
  ["organisation", "users", /^4,(.*),o,/, "4,$1,x,", "users.csv 4 4  unknown_org", { dependent: 1 }],
  ["role of 1.2", "roles", /^r4,(.*)student/, "r4,$1wizard", "roles.csv 4 4  unknown_role", { dependent: 2 }],
  ["no role", "roles", /^r4,.*/, "r5b,5,secondary,aide,o", "users.csv 4 4  role_missing", { dependent: 1 }],
  ["class name", "classes", /^b,5b/, "b,", "classes.csv 3  b value_missing", { dependent: 3 }],
  ["role in class", "enrollments", /^(eb4.*),student/, "$1,wizard", "enrollments.csv 4 4 b unknown_role"],
  ["no such user", "enrollments", /^(eb4.*),4,/, "$1,99,", "enrollments.csv 4 99 b unknown_person", { members: 1 }],
  ["no such class", "enrollments", /^eb4,b/, "eb4,z", "enrollments.csv 4 4 z unknown_group", { members: 1 }],
  ["no class", "enrollments", /^eb4,b/, "eb4,", "enrollments.csv 4 4  value_missing"],
  ["no user", "enrollments", /^(eb4.*),4,/, "$1,,", "enrollments.csv 4  b value_missing", { leaves: false }],
  ["more fields", "users", /^4,.*/, "$&,x", "users.csv 4 4  field_count", { leaves: false, dependent: 1 }],
  ["id twice", "users", /^4,.*/, "$&\n$&", "users.csv 5 4  id_twice", { leaves: false, dependent: 2 }],
  ["guardian", "users", /^4,(.*),student/, "$&\n9,$1,guardian,x", "users.csv 5   field_count", { leaves: false }],
];

test("OneRoster: a faulty row is left out with what depends on it, and makes nobody leave", async () => {
  const at = { "1.1": await makeSchool(), "1.2": await makeSchool() };
  const all = { "1.1": wholeArchive(at["1.1"], "1.1"), "1.2": wholeArchive(at["1.2"], "1.2") };
  for (const one of Object.values(all)) await run(await pack(one));
  const found: unknown[] = [];
  for (const [what, file, from, to] of spoiled) {
    const { users, roles, enrollments, ...rest } = all[file === "roles" ? "1.2" : "1.1"];
    // The first user of each list leaves, unless a row may be anybody's.
    const next = { ...rest, users: users.slice(1), roles: roles.slice(1), enrollments: enrollments.slice(1) };
    next[file] = next[file].map((line) => line.replace(from, to));
    const { listed, rows, dependent, removed } = await effectOf(await pack(next));
    for (const { fields, faults } of listed)
      expect(fields.slice(0, 2)).toEqual([faults[0]!.file, String(faults[0]!.line)]);
    const shown = listed.map(({ fields, faults }) => `${fields.slice(0, 4).join(" ")} ${faults[0]!.code}`).join();
    found.push([what, shown, rows!.faulty, rows!.withoutId, dependent, removed]);
  }
  const expected = spoiled.map(([what, , , , row, { dependent = 0, leaves = true, members = 0 } = {}]) => [
    ...[what, row, 1, leaves ? 0 : 1, dependent],
    [leaves ? 1 : 0, 0, members],
  ]);
  expect(found).toEqual(expected);
});

test("OneRoster: rows are left out of a whole roster and of a delta, and their people and classes stay as they are", async () => {
  const at = await makeSchool();
  const all = wholeArchive(at, "1.1");
  await run(await pack(all));
  const was = await directory(at);
  const without = { ...all, users: all.users.slice(1), enrollments: all.enrollments.slice(1) };
  await apply(await leaveOut(await pack({ ...without, classes: ["a,5a,homeroom,o", "b,,homeroom,o"] })));
  const left = was.slice(1).map((line) => line.replace("1=STUDENT,", ""));
  expect(await directory(at)).toEqual(left);
  const delta = {
    "manifest.csv": "propertyName,value\nfile.users,delta\nfile.classes,delta\nfile.enrollments,delta\n",
  };
  const changed = { ...all, users: ["2,Neu,Muster,o,wizard", "3,Neu,Muster,o,student"], classes: [] };
  await apply(await leaveOut(await pack({ ...changed, enrollments: ["e,b,o,2,student"] }, delta)));
  expect(await directory(at)).toEqual(left.map((line) => line.replace(/N3/g, "Neu")));
});

test("faults that are not those of single rows leave nothing to leave out", async () => {
  const at = await makeSchool();
  const all = wholeArchive(at, "1.1");
  for (const content of [
    "id;role;first_name;last_name;ROLE\n1;student;Ada;Alt;student\n",
    csv("1;student;Ada;Alt;5a;", '2;student;"Bo;Berg;5a;'),
    csv("1;wizard;Ada;Alt;5a;"),
    await pack({ ...all, orgs: [...all.orgs, "o2,school,DE-F-NONE"] }),
    await pack({ ...all, users: all.users.map((line) => line.replace(/student|teacher/, "wizard")) }),
    await pack({ ...all, enrollments: [...all.enrollments, 'e,"a,o,1,student'] }),
  ]) {
    const { id, state, rows } = await preview(content, typeof content === "string" ? at : {});
    expect([state, rows]).toEqual(["BROKEN", null]);
    await expect(leaveOutFaultyRows(db, await find(id), 1, origin)).rejects.toMatchObject({ code: "faults_remain" });
    expect(await db.prisma.stagedPerson.count({ where: { importId: id } })).toBe(0);
  }
});
