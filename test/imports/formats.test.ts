import { join } from "node:path";
import { expect, test } from "vitest";
import { previewImport } from "../../src/imports/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { fingerprint, makeImporter, now, readDirectory, zip } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run } = makeImporter(db);

const orgs = `sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId
org-1,,,North,school,DE-XX-N,district
org-2,,,South,school,DE-XX-S,district
district,,,District,district,,
`;
const classes = `sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds
c-5a,,,5a,05,,,homeroom,,org-1,
c-sp,,,Spanisch,05,,,scheduled,,org-1,
c-6b,,,6b,06,,,homeroom,,org-2,
`;
const enrollments = `sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,primary
e1,,,c-5a,org-1,u-ada,student,
e2,,,c-5a,org-1,u-tom,teacher,true
e3,,,c-6b,org-2,u-tom,teacher,
e4,,,c-sp,org-1,u-ada,student,
e5,,,c-6b,org-2,u-bo,student,
e6,,,c-5a,org-1,u-ada,student,
`;
const oneRoster11 = {
  "manifest.csv":
    "propertyName,value\nmanifest.version,1.0\noneroster.version,1.1\nfile.orgs,bulk\nfile.users,bulk\nfile.classes,bulk\nfile.enrollments,bulk\nfile.demographics,bulk\n",
  "orgs.csv": orgs,
  "classes.csv": classes,
  "enrollments.csv": enrollments,
  "demographics.csv": 'this is,"never read',
  "users.csv": `sourcedId,status,dateLastModified,enabledUser,orgSourcedIds,role,username,userIds,givenName,familyName,middleName,identifier
u-ada,,,true,org-1,student,ada,,Ada,Muster,Marie,
u-bo,,,true,org-2,student,bo,,Bo,"de, Vries",,
u-tom,,,true,"org-1,org-2",teacher,tom,,Tom,Öztürk,,
u-admin,,,true,district,administrator,adm,,Ann,Office,,
u-mum,,,true,org-1,Guardian,,,Eva,Muster,,
u-dad,,,true,elsewhere,parent,,,,,,
`,
};
const ofBothVersions = {
  people: [
    "DE-XX-N u-ada STUDENT Ada Marie Ada Muster DE-XX-N",
    "DE-XX-N u-tom TEACHER Tom Tom Öztürk DE-XX-N+DE-XX-S",
    "DE-XX-S u-bo STUDENT Bo Bo de, Vries DE-XX-S",
  ],
  groups: [
    "DE-XX-N c-5a KLASSE 5a u-ada=STUDENT,u-tom=TEACHER",
    "DE-XX-N c-sp KURS Spanisch u-ada=STUDENT",
    "DE-XX-S c-6b KLASSE 6b u-bo=STUDENT,u-tom=TEACHER",
  ],
};

test("OneRoster 1.1, then the same schools as 1.2, then Schulconnex in both spellings: each is read, and those that say the same change nothing", async () => {
  await make.school({ name: "North", officialId: "DE-XX-N" });
  await make.school({ name: "South", officialId: "DE-XX-S" });
  const first = await run(await zip(oneRoster11));
  expect(first).toMatchObject({
    format: "ONEROSTER",
    mode: "BULK",
    state: "APPLIED",
    warningCount: 0,
    notes: { people_without_school: 1, parents_and_guardians: 2 },
  });
  expect(await readDirectory(db)).toEqual(ofBothVersions);
  const before = await fingerprint(db);

  const oneRoster12 = {
    "export/manifest.csv":
      "propertyName,value\noneroster.version,1.2\nfile.orgs,bulk\nfile.users,bulk\nfile.roles,bulk\nfile.classes,bulk\nfile.enrollments,bulk\n",
    "export/orgs.csv": orgs,
    "export/classes.csv": classes,
    "export/enrollments.csv": enrollments,
    "export/users.csv": `sourcedId,status,dateLastModified,enabledUser,username,userIds,givenName,familyName,middleName,preferredGivenName
u-ada,,,true,ada,,Ada,Muster,Marie,
u-bo,,,true,bo,,Bo,"de, Vries",,
u-tom,,,true,tom,,Tom,Öztürk,,
u-admin,,,true,adm,,Ann,Office,,
u-mum,,,true,,,Eva,Muster,,
`,
    "export/roles.csv": `sourcedId,status,dateLastModified,userSourcedId,roleType,role,beginDate,endDate,orgSourcedId
r1,,,u-ada,primary,student,,,org-1
r2,,,u-bo,primary,student,,,org-2
r3,,,u-tom,secondary,teacher,,,org-2
r4,,,u-tom,primary,teacher,,,org-1
r5,,,u-admin,primary,siteAdministrator,,,district
r6,,,u-mum,primary,guardian,,,org-1
r7,,,u-tom,secondary,parent,,,org-2
`,
  };
  expect(await run(await zip(oneRoster12))).toMatchObject({ notes: { parents_and_guardians: 1 } });
  expect(await fingerprint(db)).toBe(before);

  for (const spell of [(text: string) => text.toUpperCase(), (text: string) => text]) {
    const context = (id: string, school: string, role: string, groups: [string, string, string, string][]) => ({
      id,
      organisation: { id: "0", kennung: school, typ: spell("Schule") },
      rolle: spell(role),
      gruppen: groups.map(([groupId, name, type, inGroup]) => ({
        gruppe: { id: groupId, bezeichnung: name, typ: spell(type) },
        gruppenzugehoerigkeit: { rollen: [inGroup] },
      })),
      loeschung: null,
    });
    const person = (
      pid: string,
      vorname: string,
      rufname: string | undefined,
      familienname: string,
      contexts: object[],
    ) => ({ pid, person: { name: { vorname, rufname, familienname } }, personenkontexte: contexts });
    const records = [
      person("u-ada", "Ada Marie", "Ada", "Muster", [
        context("k1", "DE-XX-N", "Lern", [
          ["c-5a", "5a", "Klasse", "Lern"],
          ["c-sp", "Spanisch", "Kurs", "Lern"],
        ]),
      ]),
      person("u-bo", "Bo", undefined, "de, Vries", [
        context("k2", "DE-XX-S", "Lern", [["c-6b", "6b", "Klasse", "Lern"]]),
      ]),
      person("u-tom", "Tom", undefined, "Öztürk", [
        context("k3", "DE-XX-N", "Lehr", [["c-5a", "5a", "Klasse", "KlLeit"]]),
        context("k4", "DE-XX-S", "Lehr", [["c-6b", "6b", "Klasse", "Lehr"]]),
      ]),
    ];
    await run(JSON.stringify(records, null, spell("a") === "A" ? 2 : 0));
    expect(await fingerprint(db)).toBe(before);
  }
});

test("the rosters of the demo world are without fault", async () => {
  const schoolId = await make.school({ officialId: "DE-NI-100001" });
  for (const [file, created] of [
    ["plain.csv", 4],
    ["oneroster.zip", 3],
    ["personen-info.json", 1],
  ] as const) {
    const path = join(import.meta.dirname, "../../demo/roster", file);
    const { state, schools } = await previewImport(db, { path, schoolId, holdShare: 1 / 3 }, { at: now });
    expect([file, state, schools[0]?.counts.people.created]).toEqual([file, "READY", created]);
  }
});
