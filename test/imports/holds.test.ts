import { expect, test } from "vitest";
import { confirmImport, getImport } from "../../src/imports/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { fingerprint, makeImporter, origin, writeRoster, zip } from "./rosters.ts";
import { previewImport } from "../../src/imports/index.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview, apply } = makeImporter(db);
const header = "id;role;first_name;last_name;classes\n";

const firstNames = ["Jörg", "Aylin", "Mia", "Paul", "Fatma", "Ben", "Lea", "Yusuf", "Zoë", "Kim", "Oskar"];
const lastNames = ["Müller", "Öztürk", "Schmidt", "Weiß", "Nowak", "Groß", "Fischer", "Vogel", "Çelik", "Hahn", "Jung"];
const otherFirstNames = ["Emil", "Hanna", "Viktor", "Nele", "Theo", "Ida", "Ravi", "Clara", "Samuel", "Pia", "Gregor"];
const otherLastNames = [
  "Becker",
  "Dietrich",
  "Albers",
  "Kaya",
  "Lange",
  "Peters",
  "Roth",
  "Thomsen",
  "Ulrich",
  "Xander",
  "Ebert",
];

type Pupil = { id: number; first: string; last: string; in: string };

const pupils = (count: number, from = 4001, classOf = (n: number) => `${5 + Math.floor(n / 22)}a`): Pupil[] =>
  Array.from({ length: count }, (_, n) => ({
    id: from + n,
    first: firstNames[n % 11]!,
    last: lastNames[(n * 7 + Math.floor(n / 11)) % 11]!,
    in: classOf(n),
  }));
const others = (all: readonly Pupil[], classOf = (n: number) => `${7 + (n % 5)}c`): Pupil[] =>
  all.map((pupil, n) => ({
    ...pupil,
    first: otherFirstNames[n % 11]!,
    last: otherLastNames[(n * 3 + Math.floor(n / 11)) % 11]!,
    in: classOf(n),
  }));
const rosterOf = (all: readonly Pupil[]): string =>
  header + all.map(({ id, first, last, in: group }) => `${id};student;${first};${last};${group}\n`).join("");

const holdsOf = ({ schools }: Awaited<ReturnType<typeof preview>>) =>
  schools.flatMap(({ holds }) => holds.map(({ reason, count, of, names }) => [reason, count, of, ...names].join(" ")));

test("another school's file with overlapping numbers holds, names what is unusual, and changes nothing", async () => {
  const school = await make.school();
  const all = pupils(126);
  await run(rosterOf(all), { school });
  const held = await preview(rosterOf(others(all.slice(0, 110))), { school, mode: "DELTA" });
  expect([held.state, ...holdsOf(held)]).toEqual(["HELD", "NAMES_CHANGED 110 110", "CLASSES_ENDED 5 6 5a 6a 7a 8a 9a"]);
  const before = await fingerprint(db);
  await expect(apply(held.id)).rejects.toMatchObject({ code: "import_held" });
  const tooFew = [{ reason: "NAMES_CHANGED" as const, count: 110 }];
  await expect(confirmImport(db, held.id, origin, tooFew)).rejects.toMatchObject({ code: "holds_not_confirmed" });
  expect([await fingerprint(db), (await getImport(db, held.id)).state]).toEqual([before, "HELD"]);
});

test("marriages, spellings and call names are no other people, and four renamed people are not many", async () => {
  const school = await make.school();
  const all = pupils(30);
  await run(rosterOf(all), { school });
  const spelled = all.map((pupil, n) => ({
    ...pupil,
    ...(n % 3 === 0
      ? { last: "Kowalczyk" }
      : n % 3 === 1
        ? { first: `${pupil.first}-Noah` }
        : { first: pupil.first.toUpperCase(), last: pupil.last.replace("ü", "ue").replace("ß", "ss") }),
  }));
  expect((await preview(rosterOf(spelled), { school })).state).toBe("READY");
  const four = [...others(all.slice(0, 4), () => "5a"), ...all.slice(4)];
  expect((await preview(rosterOf(four), { school })).state).toBe("READY");
  const five = [...others(all.slice(0, 5), () => "5a"), ...all.slice(5)];
  expect(holdsOf(await preview(rosterOf(five), { school }))).toEqual(["NAMES_CHANGED 5 30"]);
});

test("classes that move up together do not hold, and a class that is scattered or emptied does", async () => {
  const school = await make.school();
  const classOf = (n: number) => `${5 + Math.floor(n / 10)}a`;
  const all = pupils(30, 1, classOf);
  await run(rosterOf(all), { school });
  const up = all.map((pupil) => ({ ...pupil, in: `${Number.parseInt(pupil.in) + 1}a` }));
  expect((await preview(rosterOf(up), { school, schoolYear: "2026/27" })).state).toBe("READY");
  const scattered = all.map((pupil, n) => (n < 10 ? { ...pupil, in: ["6a", "7a", "5a"][n % 3]! } : pupil));
  expect(holdsOf(await preview(rosterOf(scattered), { school }))).toEqual(["CLASSES_LEFT 1 3 5a"]);
  const missing = all.filter((_, n) => n < 20);
  expect(holdsOf(await preview(rosterOf(missing), { school }))).toEqual(["CLASSES_ENDED 1 3 7a"]);
  const withoutClass = all.map((pupil, n) => (n < 10 ? { ...pupil, in: "" } : pupil));
  expect(holdsOf(await preview(rosterOf(withoutClass), { school, mode: "DELTA" }))).toEqual(["CLASSES_ENDED 1 3 5a"]);
});

test("a list of pupils as the whole school holds, because every teacher would leave", async () => {
  const school = await make.school();
  const all = pupils(30);
  const teachers = Array.from({ length: 5 }, (_, n) => `T${n};teacher;Jörg;Groß ${n};\n`).join("");
  await run(rosterOf(all) + teachers, { school });
  expect(holdsOf(await preview(rosterOf(all), { school }))).toEqual(["LEAVERS 5 35"]);
  expect(holdsOf(await preview(rosterOf(all) + teachers.split("\n", 1)[0]!, { school }))).toEqual([]);
  expect(holdsOf(await preview(rosterOf(all), { school, people: "STUDENTS" }))).toEqual([]);
});

test("a file that names another school in its name or above its headings holds", async () => {
  const own = await make.school({ name: "Lindenschule Ahausen", officialId: "DE-NW-165001" });
  await make.school({ name: "Kastanienschule Behausen", officialId: "DE-NW-165002" });
  const previewOf = async (fileName: string, title = "") =>
    previewImport(
      db,
      {
        path: await writeRoster(title + rosterOf(pupils(3))),
        fileName,
        schoolId: own,
        holdShare: 1 / 3,
        columns: undefined,
      },
      origin,
    );
  expect(holdsOf(await previewOf("schueler.csv"))).toEqual([]);
  expect(holdsOf(await previewOf("Export_165001_2026.csv"))).toEqual([]);
  const named = ["OTHER_SCHOOL 3 3 Kastanienschule Behausen"];
  expect(holdsOf(await previewOf("Export_165002_2026.csv"))).toEqual(named);
  expect(holdsOf(await previewOf("Schüler Kastanienschule-Behausen.csv"))).toEqual(named);
  expect(holdsOf(await previewOf("Wechsel Kastanienschule Behausen - Lindenschule Ahausen.csv"))).toEqual([]);
  expect(holdsOf(await previewOf("schueler.csv", "Kastanienschule Behausen;;;;\n"))).toEqual(named);
});

const archiveOf = (identifier: string, name: string) =>
  zip({
    "manifest.csv": `propertyName,value\noneroster.version,1.1\n${["orgs", "users", "classes", "enrollments"].map((file) => `file.${file},bulk\n`).join("")}`,
    "orgs.csv": `sourcedId,name,type,identifier\n7,${name},school,${identifier}\n`,
    "users.csv": "sourcedId,orgSourcedIds,role,givenName,familyName\n1,7,student,Ada,Öz\n2,7,student,Bo,Ek\n",
    "classes.csv": "sourcedId,title,classType,schoolSourcedId\n",
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
  });
const recordsOf = (kennung: string, name: string) =>
  JSON.stringify([
    {
      pid: "1",
      person: { name: { vorname: "Ada", familienname: "Öz" } },
      personenkontexte: [{ organisation: { kennung, name }, rolle: "Lern" }],
    },
  ]);

test("an archive or records that name or number another school hold, whether or not it is known here", async () => {
  const own = await make.school({ name: "Ulmenschule Ahausen", officialId: "DE-BE-175001" });
  await make.school({ name: "Fichtenschule Behausen", officialId: "DE-BE-175002" });
  const cases: [string, string, string[]][] = [
    ["DE-BE-175001", "Fichtenschule Behausen", []],
    ["175001", "Hauptstandort", []],
    ["", "Hauptstandort", []],
    ["S-4711", "Hauptstandort", []],
    ["DE-BE-175009", "Eichenschule", ["Eichenschule"]],
    ["175009", "Eichenschule", ["Eichenschule"]],
    ["175002", "Hauptstandort", ["Fichtenschule Behausen"]],
    ["", "Fichtenschule Behausen", ["Fichtenschule Behausen"]],
    ["X", "Ulmenschule Ahausen und Fichtenschule Behausen", []],
  ];
  for (const [number, name, names] of cases) {
    const holds = async (content: string | Buffer) =>
      (await preview(content, { school: own })).schools[0]!.holds.map((hold) => [hold.reason, ...hold.names]);
    const expected = names.map((other) => ["OTHER_SCHOOL", other]);
    expect([number, name, await holds(await archiveOf(number, name))]).toEqual([number, name, expected]);
    expect([number, name, await holds(recordsOf(number, name))]).toEqual([number, name, expected]);
  }
});

test("what was confirmed is applied, and more than that holds again", async () => {
  const school = await make.school();
  const all = pupils(40);
  await run(rosterOf(all), { school });
  const held = await preview(rosterOf([...others(all.slice(0, 10), () => "5a"), ...all.slice(10)]), { school });
  expect(holdsOf(held)).toEqual(["NAMES_CHANGED 10 40"]);
  await confirmImport(db, held.id, origin, [{ reason: "NAMES_CHANGED", count: 10 }]);
  await run(rosterOf(all.map((pupil, n) => (n === 20 ? { ...pupil, first: "Valentin", last: "Ypsilon" } : pupil))), {
    school,
  });
  await expect(apply(held.id)).rejects.toMatchObject({ code: "import_held" });
  const again = await getImport(db, held.id);
  expect([again.state, ...holdsOf(again)]).toEqual(["HELD", "NAMES_CHANGED 11 40"]);
  await confirmImport(db, held.id, origin, [{ reason: "NAMES_CHANGED", count: 11 }]);
  expect((await apply(held.id)).state).toBe("APPLIED");
  expect(await db.prisma.audit.findFirst({ where: { schoolId: school, action: "import_confirmed" } })).toMatchObject({
    detail: { holds: [{ reason: "NAMES_CHANGED" }] },
  });
});

test("what was shown is what is applied: after a change of the school the import is shown again", async () => {
  const school = await make.school();
  const all = pupils(20);
  await run(rosterOf(all), { school });
  const shown = await preview(rosterOf(all.slice(0, 18)), { school });
  expect([shown.state, shown.schools[0]!.counts.people.removed]).toEqual(["READY", 2]);
  await run(rosterOf([...all, ...pupils(1, 9001)]), { school });
  const before = await fingerprint(db);
  await expect(apply(shown.id)).rejects.toMatchObject({ code: "import_changed" });
  const again = await getImport(db, shown.id);
  expect([again.state, again.schools[0]!.counts.people.removed, await fingerprint(db)]).toEqual(["READY", 3, before]);
  expect((await apply(shown.id)).schools[0]!.counts.people.removed).toBe(3);
});

test("another name than the one that would be replaced is another difference, and a change elsewhere is none", async () => {
  const [school, elsewhere] = [await make.school(), await make.school()];
  const all = pupils(6);
  await run(rosterOf(all), { school });
  const renamed = rosterOf(all.map((pupil, n) => (n === 0 ? { ...pupil, last: "Neu" } : pupil)));
  const shown = await preview(renamed, { school });
  await run(rosterOf(pupils(6)), { school: elsewhere });
  await make.person({ school });
  const one = { homeSchoolId: school, sourceSystemIdentifier: "4001" };
  await db.prisma.person.updateMany({ where: one, data: { last: "Zwischenzeitlich" } });
  await expect(apply(shown.id)).rejects.toMatchObject({ code: "import_changed" });
  await make.person({ school });
  expect((await apply(shown.id)).state).toBe("APPLIED");
});
