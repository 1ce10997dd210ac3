import { beforeEach, expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { listImportFaults } from "../../src/imports/index.ts";
import { storeOf } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter, readDirectory, zip } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview } = makeImporter(db);
let school: SchoolId;
let other: SchoolId;
let schools = 0;
const codes: Record<string, string> = {};

beforeEach(async () => {
  for (const name of ["HERE", "THERE"]) codes[name] = `DE-R-${++schools}`;
  school = await make.school({ officialId: codes["HERE"]! });
  other = await make.school({ officialId: codes["THERE"]! });
});

/** Source id and role of the people of a school who are active. */
async function readRoles(schoolId = school): Promise<Record<string, string>> {
  const people = await db.prisma.person.findMany({
    where: { status: "ACTIVE", affiliations: { some: { schoolId } } },
    select: { sourceSystemIdentifier: true, role: true },
    orderBy: { sourceSystemIdentifier: "asc" },
  });
  return Object.fromEntries(people.map(({ sourceSystemIdentifier: id, role }) => [id, role]));
}

const permute = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item, at) => permute(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));

type Context = { rolle: string; at?: string; rollen?: string[]; loeschung?: object };

const record = (pid: string, contexts: readonly Context[], home?: string) => ({
  pid,
  person: {
    name: { vorname: pid, familienname: "Muster" },
    ...(home !== undefined && { stammorganisation: { kennung: codes[home] } }),
  },
  personenkontexte: contexts.map(({ rolle, at = "HERE", rollen, loeschung = null }, index) => ({
    id: `${pid}-${index}`,
    organisation: { kennung: codes[at], typ: "Schule" },
    rolle,
    gruppen: rollen && [
      { gruppe: { id: `g-${at}`, bezeichnung: "5a", typ: "Klasse" }, gruppenzugehoerigkeit: { rollen } },
    ],
    loeschung,
  })),
});

const roster = (...records: object[]): string => JSON.stringify(records);

const nearest = (roles: readonly string[]): string =>
  roles.includes("Lehr") ? "TEACHER" : roles.includes("Lern") ? "STUDENT" : "OTHER";

test("of several roles at a school, the one nearest to teaching counts, in any order and format", async () => {
  const sets = [
    ["Leit", "Lehr"],
    ["Lern", "Leit"],
    ["SorgBer", "Lern", "Lehr"],
    ["SorgBer", "Extern"],
    ["Leit", "Lern", "Lehr", "SorgBer"],
  ];
  const people = sets.flatMap((set, at) => permute(set).map((roles, order) => ({ pid: `p${at}-${order}`, roles })));
  const expected = Object.fromEntries(people.map(({ pid, roles }) => [pid, nearest(roles)]));
  const contexts = (roles: readonly string[]) => roles.map((rolle) => ({ rolle }));
  await run(roster(...people.map(({ pid, roles }) => record(pid, contexts(roles)))));
  expect(await readRoles()).toEqual(expected);

  const names: Record<string, string> = {
    Leit: "siteAdministrator",
    Lehr: "teacher",
    Lern: "student",
    SorgBer: "parent",
    Extern: "aide",
  };
  for (const primary of [undefined, "SorgBer", "Leit"]) {
    const rows = people.flatMap(({ pid, roles }) =>
      roles.map(
        (role, at) =>
          `${pid}-${at},,,${pid},${role === primary ? "primary" : "secondary"},${names[role]!},,,${codes["THERE"]!}`,
      ),
    );
    await run(
      await zip({
        "orgs.csv": `sourcedId,type,identifier\n${codes["THERE"]!},school,${codes["THERE"]!}\n`,
        "classes.csv": "sourcedId,title,classType,schoolSourcedId\n",
        "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
        "users.csv": `sourcedId,givenName,familyName\n${people.map(({ pid }) => `${pid},A,B`).join("\n")}\n`,
        "roles.csv": `sourcedId,status,dateLastModified,userSourcedId,roleType,role,beginDate,endDate,orgSourcedId\n${rows.join("\n")}\n`,
      }),
    );
    expect(await readRoles(other)).toEqual(expected);
  }
});

test("at several schools the home school decides; without one, the role nearest to teaching", async () => {
  const contexts: Context[] = [{ rolle: "Lehr", at: "THERE" }, { rolle: "Leit" }, { rolle: "Extern" }];
  const orders = permute(contexts);
  await run(
    roster(
      ...orders.map((order, at) => record(`home-${at}`, order, "HERE")),
      ...orders.map((order, at) => record(`none-${at}`, order)),
    ),
  );
  const found = Object.entries(await readRoles());
  expect(new Set(found.filter(([id]) => id.startsWith("home")).map(([, role]) => role))).toEqual(new Set(["OTHER"]));
  expect(new Set(found.filter(([id]) => id.startsWith("none")).map(([, role]) => role))).toEqual(new Set(["TEACHER"]));
});

test("newer codes are read in any spelling: NLehr and SchB are OTHER, VLehr teaches in the group, Nutzer is no class", async () => {
  await run(
    roster(
      record("n", [{ rolle: "NLehr" }]),
      record("s", [{ rolle: "SCHB", rollen: ["schb"] }]),
      record("v", [{ rolle: "lehr", rollen: ["VLEHR"] }]),
    ).replaceAll('"typ":"Klasse"', '"typ":"Nutzer"'),
  );
  expect(await readRoles()).toEqual({ n: "OTHER", s: "OTHER", v: "TEACHER" });
  const { groups } = await readDirectory(db);
  expect(groups.filter((line) => line.startsWith(codes["HERE"]!))).toEqual([
    `${codes["HERE"]!} g-HERE SONSTIG 5a s=OTHER,v=TEACHER`,
  ]);
});

test("an unknown code is a fault of its record, and codes of fields that are not read are none", async () => {
  const known = record("ada", [{ rolle: "Lern" }]);
  const context = { ...known.personenkontexte[0], personenstatus: "Neu", jahrgangsstufe: "99", beziehungen: "?" };
  const person = { ...known.person, geschlecht: "neu", vertrauensstufe: 7, lokalisierung: [] };
  const supplier = { ...context, organisation: { kennung: "x", typ: "Medienzentrum" }, rolle: "Neu" };
  const strange = { ...known, person, personenkontexte: [context, supplier] };
  expect(await run(roster(strange))).toMatchObject({ state: "APPLIED" });
  const { id, errorCount } = await preview(roster(strange, record("bo", [{ rolle: "Neu" }])));
  expect(errorCount).toBe(1);
  expect(await listImportFaults(storeOf(db), id, { limit: 9 })).toMatchObject([{ code: "unknown_role" }]);
});

test("parents and guardians are no people of the school, in any format and spelling", async () => {
  const pupil = record("ada", [{ rolle: "Lern" }]);
  const first = await run(
    roster(
      pupil,
      ...["SorgBer", "SORGBER", "sorgber "].map((rolle, at) => record(`mum-${at}`, [{ rolle, rollen: ["Lern"] }])),
      record("dad", [{ rolle: "SorgBer" }, { rolle: "SorgBer", at: "THERE" }]),
      record("aunt", [{ rolle: "SorgBer", at: "NOWHERE" }]),
      record("ed", [{ rolle: "SorgBer", at: "THERE" }, { rolle: "Extern" }]),
    ),
  );
  expect(first).toMatchObject({ state: "APPLIED", notes: { parents_and_guardians: 5 } });
  expect(await readRoles()).toEqual({ ada: "STUDENT", ed: "OTHER" });
  expect(await readRoles(other)).toEqual({});

  const words = (
    "Eltern,Elternteil,ERZIEHUNGSBERECHTIGTE,Erziehungsberechtigter,Sorgeberechtigte, Vormund ,guardian,Parent," +
    "parents,mother,Father,Mutter,Vater,SorgBer,Legal guardian,relative,Sorgeberechtigte(r)," +
    "Personensorgeberechtigte,Erziehungsberechtigte/r,ext:parent,Angehörige"
  ).split(",");
  const rows = words.map((word, at) => `parent-${at};${word};A;B`);
  const table = ["id;role;first_name;last_name", "ada;Schülerin;Ada;Muster", ...rows, ""].join("\n");
  expect(await run(table, { school })).toMatchObject({ notes: { parents_and_guardians: words.length } });
  expect(await readRoles()).toEqual({ ada: "STUDENT" });
});

test("a guardian who was imported before leaves with a whole roster, and stays with a delta", async () => {
  const [pupil, mum] = [record("ada", [{ rolle: "Lern" }]), record("mum", [{ rolle: "Extern" }])];
  await run(roster(pupil, record("bo", [{ rolle: "Lern" }]), record("cy", [{ rolle: "Lern" }]), mum));
  const guardian = record("mum", [{ rolle: "SorgBer" }]);
  await run(roster(guardian), { mode: "DELTA" });
  expect(await readRoles()).toMatchObject({ mum: "OTHER" });
  await run(roster(pupil, record("bo", [{ rolle: "Lern" }]), record("cy", [{ rolle: "Lern" }]), guardian));
  expect(await readRoles()).toEqual({ ada: "STUDENT", bo: "STUDENT", cy: "STUDENT" });
});

test("a delta that deletes the context of a guardian removes one who was imported before", async () => {
  await run(roster(record("ada", [{ rolle: "Lern" }]), record("mum", [{ rolle: "Extern" }])));
  await run(roster(record("mum", [{ rolle: "SorgBer", loeschung: { zeitpunkt: "2026-01-01T00:00Z" } }])), {
    mode: "DELTA",
  });
  expect(await readRoles()).toEqual({ ada: "STUDENT" });
});

const oneRoster = (
  version: "1.1" | "1.2",
  { extra = "", guardian = "ext:guardian", guardianAt = codes["THERE"]!, classType = "homeroom" } = {},
) => {
  const there = codes["THERE"]!;
  const users = { ada: "student", mum: guardian };
  const rows = Object.entries(users);
  return zip({
    "orgs.csv": `sourcedId,type,identifier\n${there},school,${there}\ndistrict,district,\n`,
    "classes.csv": `sourcedId,title,classType,schoolSourcedId\nc-${there},5a,${classType},${there}\n`,
    "enrollments.csv":
      "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n" + `e1,c-${there},${there},ada,student\n${extra}`,
    ...(version === "1.1"
      ? {
          "users.csv": `sourcedId,givenName,familyName,orgSourcedIds,role\n${rows.map(([id, role]) => `${id},A,B,${id === "mum" ? guardianAt : there},${role}`).join("\n")}\n`,
        }
      : {
          "users.csv": `sourcedId,givenName,familyName\n${rows.map(([id]) => `${id},A,B`).join("\n")}\n`,
          "roles.csv": `sourcedId,userSourcedId,roleType,role,orgSourcedId\n${rows.map(([id, role]) => `r-${id},${id},primary,${role},${there}`).join("\n")}\n`,
        }),
  });
};

test.each([
  ["1.1", ["guardian", "Relative"]],
  ["1.2", ["ext:parent"]],
] as const)("enrollments of a skipped guardian are skipped in any role, OneRoster %s", async (version, guardians) => {
  const there = codes["THERE"]!;
  const extra = ["student", "guardian", "aide", "ext:visitor"]
    .map((role, at) => `m${at},c-${there},${there},mum,${role}\n`)
    .join("");
  for (const guardian of guardians) {
    const file = await oneRoster(version, { extra, guardian });
    expect(await run(file)).toMatchObject({ state: "APPLIED", notes: { parents_and_guardians: 1 } });
    expect(await readRoles(other)).toEqual({ ada: "STUDENT" });
  }
});

test.each(["ext:club", "Förderband"])("a class of the unknown type %s is another group", async (classType) => {
  const there = codes["THERE"]!;
  await run(await oneRoster("1.1", { classType }));
  const { groups } = await readDirectory(db);
  expect(groups.filter((line) => line.startsWith(there))).toEqual([`${there} c-${there} SONSTIG 5a ada=STUDENT`]);
});

test("enrollments of a skipped user without a school are skipped", async () => {
  const extra = `m1,c-${codes["THERE"]!},${codes["THERE"]!},mum,student\n`;
  const file = await oneRoster("1.1", { extra, guardian: "aide", guardianAt: "district" });
  expect(await run(file)).toMatchObject({ state: "APPLIED", notes: { people_without_school: 1 } });
  expect(await readRoles(other)).toEqual({ ada: "STUDENT" });
});
