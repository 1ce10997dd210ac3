import { expect, test } from "vitest";
import { listImportFaults, type ImportPeople } from "../../src/imports/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter, readDirectory, zip } from "./rosters.ts";
import { writeWorkbook } from "./workbook.ts";

// Lists of all students, or of all teachers, in every format: people of another role and their groups stay.

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview, apply } = makeImporter(db);

type Person = { id: string; role: "student" | "teacher" | "other"; first: string; last: string; in: string[] };
const person = (id: string, role: Person["role"], first: string, last: string, ...groups: string[]): Person => ({
  id,
  role,
  first,
  last,
  in: groups,
});

/** Groups whose names begin with a number are classes, the others courses. */
const before = [
  person("1", "student", "Jörg", "Öz", "5a", "Chor"),
  person("2", "student", "Aylin", "Groß", "5a"),
  person("3", "student", "Mia", "Weiß", "6a", "Schach"),
  person("4", "student", "Paul", "Hahn", "6a", "Chor"),
  person("T1", "teacher", "Käthe", "Müller", "5a", "Chor", "Kollegium"),
  person("T2", "teacher", "Jürgen", "Strauß", "6a", "Kollegium"),
  person("S1", "other", "Fatma", "Vogel", "Kollegium"),
];
const studentsAfter = [
  person("1", "student", "Jörg", "Öz", "5a"),
  person("2", "student", "Aylin", "Müller", "5b"),
  person("5", "student", "Ben", "Jung", "5b"),
];
const teachersAfter = [
  person("T1", "teacher", "Käthe", "Müller-Öz", "6a"),
  person("T3", "teacher", "Emre", "Kaya", "Kollegium", "5a"),
];

const isClass = (name: string) => /^\d/.test(name);
const kindOf = (name: string) => (isClass(name) ? "class" : "course");
const words = { student: "Schüler", teacher: "Lehrkraft", other: "Sekretariat" };
const codes = { student: "Lern", teacher: "Lehr", other: "NLehr" };
const groupsOf = (people: Person[]) => [...new Set(people.flatMap((one) => one.in))];

const rowsOf = (people: Person[]): string[][] => [
  ["ID", "Rolle", "Vorname", "Nachname", "Klasse", "Kurse"],
  ...people.map((one) => {
    const of = (kind: string) => one.in.filter((name) => kindOf(name) === kind).join(",");
    return [one.id, words[one.role], one.first, one.last, of("class"), of("course")];
  }),
];
const columns = {
  uses: ["ID", "ROLE", "FIRST_NAME", "LAST_NAME", "CLASSES", "COURSES"] as const,
  role: null,
  className: null,
  idFromName: false,
};

const writers: Record<string, (people: Person[], officialId: string) => Buffer | string | Promise<Buffer>> = {
  CSV: (people) =>
    Buffer.from(
      rowsOf(people)
        .map((cells) => `${cells.join(";")}\r\n`)
        .join(""),
      "latin1",
    ),
  Excel: (people) => writeWorkbook(rowsOf(people)),
  template: (people) =>
    [
      "id;role;first_name;last_name;classes;courses",
      ...people.map((one) => {
        const of = (kind: string) => one.in.filter((name) => kindOf(name) === kind).join("|");
        return [one.id, one.role, one.first, one.last, of("class"), of("course")].join(";");
      }),
    ].join("\n"),
  OneRoster: (people, officialId) =>
    zip({
      "manifest.csv": `propertyName,value\noneroster.version,1.1\n${["orgs", "users", "classes", "enrollments"].map((name) => `file.${name},bulk\n`).join("")}`,
      "orgs.csv": `sourcedId,name,type,identifier\no,Schule,school,${officialId}\n`,
      "users.csv": `sourcedId,orgSourcedIds,role,givenName,familyName\n${people.map(({ id, role, first, last }) => `${id},o,${role === "other" ? "aide" : role},${first},${last}\n`).join("")}`,
      "classes.csv": `sourcedId,title,classType,schoolSourcedId\n${groupsOf(people)
        .map((name) => `${kindOf(name)}:${name},${name},${isClass(name) ? "homeroom" : "scheduled"},o\n`)
        .join("")}`,
      "enrollments.csv": `sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n${people
        .flatMap(({ id, role, in: all }) => all.map((name) => [id, role, name] as const))
        .map(
          ([id, role, name], n) =>
            `e${n},${kindOf(name)}:${name},o,${id},${role === "other" ? "administrator" : role}\n`,
        )
        .join("")}`,
    }),
  Schulconnex: (people, officialId) =>
    JSON.stringify(
      people.map(({ id, role, first, last, in: all }) => ({
        pid: id,
        person: { name: { vorname: first, familienname: last } },
        personenkontexte: [
          {
            organisation: { kennung: officialId },
            rolle: codes[role],
            gruppen: all.map((name) => ({
              gruppe: {
                id: `${kindOf(name)}:${name}`,
                bezeichnung: name,
                typ: isClass(name) ? "Klasse" : "Kurs",
              },
            })),
          },
        ],
      })),
    ),
};
const formats = Object.keys(writers);

let schools = 0;
async function makeSchool(format: string) {
  const officialId = `DE-R-${schools++}`;
  const school = await make.school({ officialId });
  const read = async () => {
    const { people, groups } = await readDirectory(db);
    return [...people, ...groups]
      .filter((line) => line.startsWith(`${officialId} `))
      .map((line) => line.replaceAll(officialId, "").trim());
  };
  const write = (people: Person[]) => writers[format]!(people, officialId);
  const wishes = (people?: ImportPeople) => ({
    school,
    ...(people !== undefined && { people }),
    ...(["CSV", "Excel"].includes(format) && { columns: { ...columns, mode: "BULK" as const, people } }),
  });
  await run(await write(before), wishes());
  return { school, read, write, wishes };
}

const changesOf = (was: string[], is: string[]) => [
  ...was.filter((line) => !is.includes(line)).map((line) => `- ${line}`),
  ...is.filter((line) => !was.includes(line)).map((line) => `+ ${line}`),
];

test.each(formats)("%s of all students: only students leave, and teachers stay with their groups", async (format) => {
  const { read, write, wishes } = await makeSchool(format);
  const was = await read();
  const {
    schools: [at],
    mode,
    people,
  } = await run(await write(studentsAfter), wishes("STUDENTS"));
  expect([mode, people, at!.counts.people.removed, at!.counts.groups.removed]).toEqual(["BULK", "STUDENTS", 2, 1]);
  expect(changesOf(was, await read())).toEqual([
    "- 2 STUDENT Aylin Aylin Groß",
    "- 3 STUDENT Mia Mia Weiß",
    "- 4 STUDENT Paul Paul Hahn",
    "- class:5a KLASSE 5a 1=STUDENT,2=STUDENT,T1=TEACHER",
    "- class:6a KLASSE 6a 3=STUDENT,4=STUDENT,T2=TEACHER",
    "- course:Chor KURS Chor 1=STUDENT,4=STUDENT,T1=TEACHER",
    "- course:Schach KURS Schach 3=STUDENT",
    "+ 2 STUDENT Aylin Aylin Müller",
    "+ 5 STUDENT Ben Ben Jung",
    "+ class:5a KLASSE 5a 1=STUDENT,T1=TEACHER",
    "+ class:5b KLASSE 5b 2=STUDENT,5=STUDENT",
    "+ class:6a KLASSE 6a T2=TEACHER",
    "+ course:Chor KURS Chor T1=TEACHER",
  ]);
  const again = await run(await write(studentsAfter), wishes("STUDENTS"));
  expect(Object.values(again.schools[0]!.counts.memberships)).toEqual([0, 0, 0]);
});

test.each(formats)("%s of all teachers: only teachers leave, and students stay with their groups", async (format) => {
  const { read, write, wishes } = await makeSchool(format);
  const was = await read();
  await run(await write(teachersAfter), wishes("TEACHERS"));
  expect(changesOf(was, await read())).toEqual([
    "- T1 TEACHER Käthe Käthe Müller",
    "- T2 TEACHER Jürgen Jürgen Strauß",
    "- class:5a KLASSE 5a 1=STUDENT,2=STUDENT,T1=TEACHER",
    "- class:6a KLASSE 6a 3=STUDENT,4=STUDENT,T2=TEACHER",
    "- course:Chor KURS Chor 1=STUDENT,4=STUDENT,T1=TEACHER",
    "- course:Kollegium KURS Kollegium S1=OTHER,T1=TEACHER,T2=TEACHER",
    "+ T1 TEACHER Käthe Käthe Müller-Öz",
    "+ T3 TEACHER Emre Emre Kaya",
    "+ class:5a KLASSE 5a 1=STUDENT,2=STUDENT,T3=TEACHER",
    "+ class:6a KLASSE 6a 3=STUDENT,4=STUDENT,T1=TEACHER",
    "+ course:Chor KURS Chor 1=STUDENT,4=STUDENT",
    "+ course:Kollegium KURS Kollegium S1=OTHER,T3=TEACHER",
  ]);
});

test.each(formats)(
  "%s of all students: a row of another role is a fault of its line, and can be left out",
  async (format) => {
    const { write, wishes } = await makeSchool(format);
    const intruders = [person("T1", "teacher", "Käthe", "Müller"), person("T2", "student", "Jürgen", "Strauß")];
    const { id, state } = await preview(await write([...studentsAfter, ...intruders]), wishes("STUDENTS"));
    expect(state).toBe("BROKEN");
    const faults = await listImportFaults(db, id);
    expect(faults.map(({ code }) => code)).toEqual(["role_not_listed", "id_of_other_role"]);
    if (format !== "Schulconnex") expect(faults.map(({ line }) => line)).toEqual([5, 6]);
  },
);

test("what was chosen counts when the import is compared again and applied", async () => {
  const { school, write, wishes, read } = await makeSchool("template");
  const shown = await preview(await write(studentsAfter), wishes("STUDENTS"));
  const { officialId } = await db.prisma.school.findUniqueOrThrow({ where: { id: school } });
  await run(await writers["template"]!([person("T4", "teacher", "Noé", "Le Bœuf")], officialId), {
    school,
    mode: "DELTA",
  });
  expect(shown.schools[0]!.counts.people.removed).toBe(2);
  await db.prisma.importSchool.updateMany({ where: { importId: shown.id }, data: { confirmed: { LEAVERS: 9 } } });
  await apply(shown.id);
  expect((await read()).filter((line) => line.includes(" TEACHER ")).length).toBe(3);
});
