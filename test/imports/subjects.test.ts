import fc from "fast-check";
import { expect, test } from "vitest";
import { confirmImport, type ImportMode, type ImportPeople } from "../../src/imports/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";
import { makeImporter, origin, readDirectory, zip } from "./rosters.ts";

// A file changes only what it has a column or a file for: FORMATS.md, "What a file speaks of".

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview, faults, apply } = makeImporter(db);

let schools = 0;
async function makeSchool() {
  const officialId = `DE-S-${schools++}`;
  const school = await make.school({ officialId });
  const read = async () => {
    const { people, groups } = await readDirectory(db);
    const here = (lines: string[]) =>
      lines.filter((line) => line.startsWith(`${officialId} `)).map((line) => line.replaceAll(officialId, "").trim());
    return [...here(people), ...here(groups)];
  };
  return { school, officialId, read };
}

/** Six classes of 22, 20, 21, 20, 19 and 20 pupils, six teachers, three courses. */
const classes = { "5a": 22, "5b": 20, "6a": 21, "6b": 20, "7a": 19, "7b": 20 };
const pupils = Object.entries(classes).flatMap(([name, size], at) =>
  Array.from({ length: size }, (_, n) => ({ id: `${4000 + at * 100 + n}`, name, n })),
);
const wholeSchool = [
  "id;role;first_name;call_name;last_name;classes;courses;groups",
  ...pupils.map(({ id, name, n }) => `${id};student;Ida Maria ${n};Ida;Öz ${id};${name};${n < 3 ? "Chor" : ""};AG`),
  ...Object.keys(classes).map((name, n) => `T${n};teacher;Jörg;;Groß ${n};${name};Chor;`),
].join("\n");
const coursesOnly = [
  "Interne ID-Nummer;Nachname;Vorname;Kurse",
  ...pupils.slice(0, 119).map(({ id, n }) => `${id};Öz ${id};Ida Maria ${n};${"ABCDE"[n % 5]!},Chor`),
].join("\r\n");

const columns = (mode: ImportMode, ...uses: ("ID" | "LAST_NAME" | "FIRST_NAME" | "COURSES" | "CLASSES")[]) => ({
  columns: { uses, role: "STUDENT" as const, className: null, idFromName: false, mode },
  mode,
});

test("a list of courses leaves the six classes and all other groups as they are", async () => {
  const { school, read } = await makeSchool();
  await run(wholeSchool, { school });
  const before = await read();
  const latin1 = Buffer.from(coursesOnly, "latin1");
  const done = await run(latin1, { school, ...columns("DELTA", "ID", "LAST_NAME", "FIRST_NAME", "COURSES") });
  expect(done.schools[0]!.counts).toMatchObject({
    people: { created: 0, changed: 0, removed: 0 },
    groups: { created: 5, changed: 0, removed: 0 },
    memberships: { changed: 0, removed: 0 },
  });
  const withoutCourses = (lines: string[]) => lines.filter((line) => !line.startsWith("course:"));
  expect(withoutCourses(await read())).toEqual(withoutCourses(before));
});

test("as the whole school, a list of courses ends courses and nothing else", async () => {
  const { school, read } = await makeSchool();
  await run(wholeSchool, { school });
  const before = await read();
  const all = coursesOnly
    .replaceAll(",Chor", "")
    .concat(
      "\r\n",
      [...pupils.slice(119).map(({ id }) => id), ...Object.keys(classes).map((_, n) => `T${n}`)]
        .map(
          (id) =>
            `${id};${id.startsWith("T") ? `Groß ${id.slice(1)};Jörg` : `Öz ${id};Ida Maria ${Number(id) % 100}`};A`,
        )
        .join("\r\n"),
    );
  const done = await run(Buffer.from(all, "latin1"), {
    school,
    ...columns("BULK", "ID", "LAST_NAME", "FIRST_NAME", "COURSES"),
  });
  expect(done.schools[0]!.counts).toMatchObject({
    people: { created: 0, changed: 0, removed: 0 },
    groups: { created: 5, removed: 1 },
    memberships: { changed: 0, removed: 0 },
  });
  const withoutCourses = (lines: string[]) => lines.filter((line) => !line.startsWith("course:"));
  expect(withoutCourses(await read())).toEqual(withoutCourses(before));
});

const template = (columns: string, ...rows: string[]) => [`id;role;first_name;last_name${columns}`, ...rows].join("\n");
const first = template(
  ";call_name;classes;courses;groups",
  "1;student;Anna Maria;Öz;Anna;5a;Chor;AG",
  "2;student;Cem;Ek;Jimmy;5a;;AG",
  "9;teacher;Jörg;Groß;Jörg;5a;Chor;",
);

test.each<[string, string, string[], string[]]>([
  [
    "a column that is not there",
    template("", "1;student;Anna Maria;Öz", "2;student;Cem;Ek", "9;teacher;Jörg;Groß"),
    [],
    [],
  ],
  [
    "a column that is empty",
    template(";call_name;courses", "1;student;Anna Maria;Öz;;", "2;student;Cem;Ek;;", "9;teacher;Jörg;Groß;;"),
    ["1 STUDENT Anna Maria Anna Öz", "2 STUDENT Cem Jimmy Ek", "course:Chor KURS Chor 1=STUDENT,9=TEACHER"],
    ["1 STUDENT Anna Maria Anna Maria Öz", "2 STUDENT Cem Cem Ek"],
  ],
  [
    "first names that change without a call name",
    template("", "1;student;Lena;Öz", "2;student;Can;Ek", "9;teacher;Georg;Groß"),
    ["1 STUDENT Anna Maria Anna Öz", "2 STUDENT Cem Jimmy Ek", "9 TEACHER Jörg Jörg Groß"],
    ["1 STUDENT Lena Lena Öz", "2 STUDENT Can Jimmy Ek", "9 TEACHER Georg Georg Groß"],
  ],
])("%s", async (_, file, gone, come) => {
  const { school, read } = await makeSchool();
  await run(first, { school });
  const before = await read();
  await run(file, { school });
  const after = await read();
  expect(before.filter((line) => !after.includes(line)).toSorted()).toEqual(gone.toSorted());
  expect(after.filter((line) => !before.includes(line)).toSorted()).toEqual(come.toSorted());
});

test("a role that was chosen for everybody is that of new people alone", async () => {
  const { school, read } = await makeSchool();
  await run(first, { school });
  const before = await read();
  const list = "Nr.;Nachname;Vorname;Klasse\n9;Groß;Jörg;5a\n10;Neu;Nora;5a\n";
  await run(list, { school, ...columns("DELTA", "ID", "LAST_NAME", "FIRST_NAME", "CLASSES") });
  const after = await read();
  expect(after.filter((line) => !before.includes(line))).toEqual([
    "10 STUDENT Nora Nora Neu",
    "class:5a KLASSE 5a 1=STUDENT,10=STUDENT,2=STUDENT,9=TEACHER",
  ]);
});

test("a role in a group stays under a file that names none, and follows the person's own", async () => {
  const { school, read } = await makeSchool();
  await run(template(";classes", "1;other;Ada;Öz;5a", "2;student;Bo;Ek;5a"), { school });
  await db.pool.query(
    "UPDATE membership SET role = 'TEACHER' FROM person p WHERE p.id = person_id AND p.source_system_identifier = '1' AND p.home_school_id = $1",
    [school],
  );
  await run(template(";classes", "1;other;Ada;Öz;5a", "2;teacher;Bo;Ek;5a"), { school });
  expect((await read()).at(-1)).toBe("class:5a KLASSE 5a 1=TEACHER,2=TEACHER");
});

const manifest = (absent: string[]) =>
  "propertyName,value\noneroster.version,1.1\nfile.orgs,bulk\n" +
  ["users", "classes", "enrollments"]
    .map((name) => `file.${name},${absent.includes(name) ? "absent" : "bulk"}\n`)
    .join("");
const oneRoster = (officialId: string, without: string[] = [], more: Record<string, string> = {}) => {
  const files: Record<string, string> = {
    "manifest.csv": manifest(without),
    "orgs.csv": `sourcedId,name,type,identifier\no,School,school,${officialId}\n`,
    "users.csv":
      "sourcedId,orgSourcedIds,role,givenName,familyName,middleName,preferredGivenName\n" +
      "1,o,student,Anna,Öz,Maria,Ann\n2,o,student,Cem,Ek,,\n",
    "classes.csv":
      "sourcedId,title,classType,schoolSourcedId\nc1,5a,homeroom,o\nc2,5b,homeroom,o\nc3,Chor,scheduled,o\n",
    "enrollments.csv":
      "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\ne1,c1,o,1,student\ne2,c2,o,2,student\ne3,c3,o,1,student\n",
    ...more,
  };
  const isThere = ([name]: [string, string]) => !without.includes(name.replace(".csv", ""));
  return zip(Object.fromEntries(Object.entries(files).filter(isThere)));
};

test.each<[string, string[], Record<string, string>, string[]]>([
  ["without classes and enrollments", ["classes", "enrollments"], {}, []],
  ["without classes", ["classes"], {}, []],
  ["without enrollments", ["enrollments"], {}, []],
  [
    "without enrollments, and with one class of three",
    ["enrollments"],
    { "classes.csv": "sourcedId,title,classType,schoolSourcedId\nc1,05a,homeroom,o\n" },
    ["c1 KLASSE 05a 1=STUDENT"],
  ],
  [
    "without classes, and with one enrollment of three",
    ["classes"],
    { "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\ne1,c1,o,1,student\n" },
    ["c2 KLASSE 5b", "c3 KURS Chor"],
  ],
  [
    "with users of fewer columns",
    [],
    { "users.csv": "sourcedId,orgSourcedIds,role,givenName,familyName\n1,o,student,Anna,Öz\n2,o,student,Cem,Ek\n" },
    [],
  ],
])("a whole OneRoster archive %s", async (_, without, files, come) => {
  const { school, officialId, read } = await makeSchool();
  await run(await oneRoster(officialId), { school });
  const before = await read();
  expect(before).toContain("1 STUDENT Anna Maria Ann Öz");
  await run(await oneRoster(officialId, without, files), { school });
  expect((await read()).filter((line) => !before.includes(line))).toEqual(come);
});

test("a whole OneRoster archive needs its users", async () => {
  const { school, officialId } = await makeSchool();
  expect(await faults(await oneRoster(officialId, ["users", "enrollments"]), { school })).toEqual([
    "users.csv:1:- - file_missing",
  ]);
});

type Json = Record<string, unknown>;
const groupsOf = (...names: string[]) =>
  names.map((name) => ({ gruppe: { id: name, bezeichnung: name, typ: name === "Chor" ? "Kurs" : "Klasse" } }));
const recordOf = (officialId: string, pid: string, person: Json, context: Json = {}) => ({
  pid,
  person,
  personenkontexte: [{ organisation: { kennung: officialId }, rolle: "Lern", ...context }],
});

test.each<[string, (officialId: string) => Json[], string[], string[]]>([
  ["groups in no record", (id) => [recordOf(id, "1", named("Anna", "Ann")), recordOf(id, "2", named("Cem"))], [], []],
  [
    "groups in one record",
    (id) => [recordOf(id, "1", named("Anna", "Ann")), recordOf(id, "2", named("Cem"), { gruppen: [] })],
    ["5b KLASSE 5b 2=STUDENT"],
    [],
  ],
  ["names", (id) => [recordOf(id, "1", {}), recordOf(id, "2", named("Cem"))], [], []],
  [
    "the call name",
    (id) => [recordOf(id, "1", named("Anna")), recordOf(id, "2", { name: null })],
    ["2 STUDENT Cem Cem Öz"],
    ["2 STUDENT"],
  ],
  ["schools", (id) => [{ pid: "1", person: named("Anna", "Ann") }, recordOf(id, "2", named("Cem"))], [], []],
])("Schulconnex: what records say or do not say of %s", async (_, second, gone, come) => {
  const { school, officialId, read } = await makeSchool();
  const records = [
    recordOf(officialId, "1", named("Anna", "Ann"), { gruppen: groupsOf("5a", "Chor") }),
    recordOf(officialId, "2", named("Cem"), { gruppen: groupsOf("5b") }),
  ];
  await run(JSON.stringify(records), { school });
  const before = await read();
  await run(JSON.stringify(second(officialId)), { school });
  const after = await read();
  expect(before.filter((line) => !after.includes(line))).toEqual(gone);
  expect(after.filter((line) => !before.includes(line))).toEqual(come);
});

function named(vorname: string, rufname?: string): Json {
  return { name: { vorname, familienname: "Öz", ...(rufname !== undefined && { rufname }) } };
}

type Kind = "classes" | "courses" | "groups";
type Row = { id: string; role: string; first: string; call: string; last: string } & Record<Kind, string[]>;

const kinds: readonly Kind[] = ["classes", "courses", "groups"];
const prefixOf = { classes: "class", courses: "course", groups: "group" };
const optional = ["call_name", ...kinds, "status", "username", "notes"] as const;
const anyRow = fc.record({
  id: fc.constantFrom("1", "2", "3", "4", "5", "6"),
  role: fc.constantFrom("student", "teacher", "other"),
  first: fc.constantFrom("Anna Maria", "Anna", "Cem", "Jörg"),
  call: fc.constantFrom("", "Anna", "Jimmy"),
  last: fc.constantFrom("Öz", "Groß"),
  classes: fc.subarray(["5a", "5b"]),
  courses: fc.subarray(["Chor", "Ma"]),
  groups: fc.subarray(["AG", "SV"]),
});
const anyRows = fc.uniqueArray(anyRow, { selector: ({ id }) => id, minLength: 2, maxLength: 6 });
const anyFile = fc.record({
  rows: anyRows,
  columns: fc.subarray([...optional]),
  hasRole: fc.boolean(),
  mode: fc.constantFrom<ImportMode>("BULK", "DELTA"),
  people: fc.constantFrom<ImportPeople>("ALL", "ALL", "STUDENTS", "TEACHERS"),
});

const words: Record<string, string> = { student: "Schülerin", teacher: "Lehrkraft", other: "Sekretariat" };
const headingOf: Record<string, string> = {
  call_name: "Rufname",
  classes: "Klasse",
  courses: "Kurse",
  groups: "Gruppen",
  status: "Status",
  username: "Benutzername",
  notes: "Bemerkung",
  role: "Rolle",
};
const useOf: Record<string, string | null> = { notes: null, call_name: "CALL_NAME" };

type Table = { rows: Row[]; columns: readonly string[]; hasRole: boolean; role?: "STUDENT" | "TEACHER" };

function writeTable({ rows, columns, hasRole, role: ofAll = "STUDENT" }: Table) {
  const cell = (row: Row, column: string) => {
    if (column === "role") return words[row.role]!;
    if (column === "call_name") return row.call;
    return kinds.includes(column as Kind) ? row[column as Kind].join(",") : "";
  };
  const all = [...(hasRole ? ["role"] : []), ...columns];
  const lines = rows.map((row) => [row.id, row.last, row.first, ...all.map((column) => cell(row, column))].join(";"));
  const uses = [
    "ID",
    "LAST_NAME",
    "FIRST_NAME",
    ...all.map((name) => (name in useOf ? useOf[name]! : name.toUpperCase())),
  ];
  const content = [["Nr.", "Name", "Vorname", ...all.map((name) => headingOf[name]!)].join(";"), ...lines].join("\r\n");
  const role = hasRole ? null : ofAll;
  return {
    content: Buffer.from(content, "latin1"),
    columns: { uses: uses as never, role, className: null, idFromName: false },
  };
}

test(
  "whatever the columns of a file, nothing changes that it does not speak of",
  { tags: "model", timeout: walkTimeoutMs },
  async () => {
    const everything = { columns: [...optional], hasRole: true };
    await fc.assert(
      fc.asyncProperty(anyRows, anyFile, async (rows, made) => {
        const { people } = made;
        const role = people === "TEACHERS" ? "TEACHER" : "STUDENT";
        const isOfFile = (one: { role: string }) => people === "ALL" || one.role.toUpperCase() === role;
        // A list of one role has nobody of another one, nor the id of such a person.
        const file = {
          ...made,
          role: role as "STUDENT" | "TEACHER",
          rows: made.rows
            .filter(({ id }) => rows.every((row) => row.id !== id || isOfFile(row)))
            .map((row) => (people === "ALL" ? row : { ...row, role: role.toLowerCase() })),
        };
        fc.pre(file.rows.length > 1);
        const { school, read } = await makeSchool();
        const whole = writeTable({ rows, ...everything });
        await run(whole.content, { school, columns: { ...whole.columns, mode: "BULK" }, mode: "BULK" });
        const before = await read();
        const { content, columns } = writeTable(file);
        const scope = { mode: file.mode, people };
        const wishes = { school, columns: { ...columns, ...scope }, ...scope };
        const shown = await preview(content, wishes);
        expect(shown.state).not.toBe("BROKEN");
        if (shown.state === "HELD") await confirmImport(db, shown.id, origin);
        const { schools: applied } = await apply(shown.id);
        expect(applied[0]!.counts).toEqual({ ...shown.schools[0]!.counts, lists: undefined });
        const after = await read();

        const listed = new Set(file.rows.map(({ id }) => id));
        const known = new Set<string>(rows.map(({ id }) => id));
        const personIn = (lines: string[], id: string) => lines.find((line) => line.startsWith(`${id} `));
        for (const { id, role } of rows) {
          const [was, is] = [personIn(before, id), personIn(after, id)];
          if (!listed.has(id)) expect(is).toBe(file.mode === "BULK" && isOfFile({ role }) ? undefined : was);
          else if (!file.hasRole) expect(is).toContain(` ${role.toUpperCase()} `);
        }
        const others = rows.filter((row) => !isOfFile(row)).map(({ id }) => id);
        const groupsOf = (lines: string[], id: string) =>
          lines.filter((line) => new RegExp(`^\\w+:.*[ ,]${id}=`).test(line)).map((line) => line.split(" ")[0]);
        for (const id of others) expect(groupsOf(after, id)).toEqual(groupsOf(before, id));
        const isThere = (id: string) => personIn(after, id) !== undefined;
        for (const kind of kinds) {
          const membersIn = (lines: string[]) =>
            lines.filter((line) => line.startsWith(`${prefixOf[kind]}:`)).map((line) => line.replaceAll(/=\w+/g, ""));
          if (file.columns.includes(kind)) continue;
          const kept = membersIn(before).map((line) => {
            const [, head, members = ""] = /^(\S+ \S+ \S+) ?(.*)$/.exec(line)!;
            return `${head} ${members
              .split(",")
              .filter((id) => known.has(id) && isThere(id))
              .join(",")}`.trim();
          });
          expect(membersIn(after)).toEqual(kept);
        }
        for (const { id, first, call } of rows) {
          const row = file.rows.find((one) => one.id === id);
          if (row === undefined || file.columns.includes("call_name") || row.first !== first) continue;
          expect(personIn(after, id)).toContain(` ${first} ${call || first} ${row.last}`);
        }
      }),
      walks(20, 3),
    );
  },
);
