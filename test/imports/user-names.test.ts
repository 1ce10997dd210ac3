import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { deletePerson, softDeletePerson, type PersonId, type SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  forgetPerson,
  giveUserNamesAtSchool,
  putSignInSettings,
  sweepSignInTraces,
  type UserNameRule,
} from "../../src/accounts/index.ts";
import { setLogin } from "../support/sign-ins.ts";
import { testDatabase } from "../support/database.ts";
import { recordQueries } from "../support/explain.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter, origin, zip } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, faults } = makeImporter(db);
const header = "id;role;first_name;call_name;last_name\n";

const setRule = (schoolId: SchoolId, userNameRule: UserNameRule) =>
  withPrismaTransaction(db, (tx) =>
    putSignInSettings(
      tx,
      {
        schoolId,
        userNameRule,
        passwordKind: "LETTERS",
        mustChangePassword: false,
        ownPasswordFromGrade: null,
        helpText: null,
      },
      origin,
    ),
  );

async function namesOf(school: SchoolId): Promise<string[]> {
  const rows = await db.prisma.credential.findMany({
    where: { person: { homeSchoolId: school } },
    select: { username: true, passwordHash: true },
    orderBy: { username: "asc" },
  });
  expect(rows.filter(({ passwordHash }) => passwordHash !== null)).toEqual([]);
  return rows.map(({ username }) => username);
}

const personOf = async (username: string): Promise<PersonId> =>
  (await db.prisma.credential.findUniqueOrThrow({ where: { username } })).personId as PersonId;

async function purge(personId: PersonId): Promise<void> {
  await changeDirectory(db, origin, (change) => softDeletePerson(change, { personId, restoreWindowDays: 30 }));
  await changeDirectory(db, origin, (change) => deletePerson(change, { personId, forget: forgetPerson }));
}

test("everybody new gets a user name by the rule of the school, and the same file again gives none", async () => {
  const school = await make.school();
  const roster = `${header}1;student;Jörg;;Müßig\n2;student;Mia Sophie;Mia;Schmidt\n3;student;Mia;;Schmidt
4;student;محمد;;الخطيب\n5;teacher;王;;小明\n6;other;;;\n7;student;Sergej;;Ščerba-Łoś\n`;
  await run(roster, { school });
  const names = await namesOf(school);
  expect(names).toEqual(
    expect.arrayContaining(["joerg.muessig", "mia.schmidt", "mia.schmidt2", "mhmd.alkhtyb", "sergej.scerba-los"]),
  );
  expect(names.filter((name) => /^[a-z]{4,8}\d{4}$/.test(name))).toHaveLength(2);
  await run(roster, { school });
  expect(await namesOf(school)).toEqual(names);
  const lines = await db.prisma.audit.findMany({
    where: { schoolId: school, action: "user_names_given" },
    orderBy: { id: "asc" },
  });
  expect(lines).toMatchObject([{ detail: { count: 7 }, actorId: origin.actorId }]);
  expect(JSON.stringify(lines)).not.toContain("mia");
});

test("each school has its rule", async () => {
  for (const [rule, name] of [
    ["FIRST_INITIAL_LAST", /^t\.klein$/],
    ["FIRST_LAST_INITIAL", /^tom\.k$/],
    ["RANDOM", /^[a-z]{4,8}\d{4}$/],
    ["ROSTER", /^tom\.klein$/],
  ] as const) {
    const school = await make.school();
    await setRule(school, rule);
    await run(`${header}1;student;Tom;;Klein\n`, { school });
    expect(await namesOf(school)).toEqual([expect.stringMatching(name)]);
  }
});

test("people of one name get a user name each, also from two imports at the same time", async () => {
  const schools = [await make.school(), await make.school()];
  const roster =
    header + Array.from({ length: 6 }, (_, n) => `${n};student;Ada;;Lovelace\n${n}x;student;P${n};;Q\n`).join("");
  await Promise.all(schools.map((school) => run(roster, { school })));
  const names = (await Promise.all(schools.map(namesOf))).flat().filter((name) => name.startsWith("ada."));
  const all = Array.from({ length: 12 }, (_, n) => `ada.lovelace${n === 0 ? "" : n + 1}`);
  expect(names.toSorted()).toEqual(all.toSorted());
});

test("a user name is not given to somebody else: not after a purge, not after another one was chosen, not by hand", async () => {
  const school = await make.school();
  await run(`${header}1;student;Ira;;Neu\n2;student;Uwe;;Alt\n`, { school });
  const [ira, uwe] = [await personOf("ira.neu"), await personOf("uwe.alt")];
  await setLogin(db, { personId: uwe, username: "uwe.anders", password: "geheim" }, origin);
  await purge(ira);
  const other = await make.person({ school });
  for (const username of ["ira.neu", "Uwe.Alt", "uwe.anders"])
    await expect(
      setLogin(db, { personId: other, username, password: "geheim" }, origin),
      username,
    ).rejects.toMatchObject({ code: "username_taken" });
  await setLogin(db, { personId: uwe, username: "uwe.alt", password: "geheim" }, origin);
  const next = await make.school();
  await run(`${header}1;student;Ira;;Neu\n2;student;Uwe;;Alt\n3;student;Uwe;;Anders\n`, { school: next });
  expect(await namesOf(next)).toEqual(["ira.neu2", "uwe.alt2", "uwe.anders2"]);

  const kept = await db.pool.query<{ text: string }>(
    "SELECT user_name::text AS text FROM user_name WHERE person_id IS NULL",
  );
  expect(kept.rows.length).toBeGreaterThan(0);
  expect(kept.rows.map(({ text }) => text).join()).not.toMatch(/ira|neu/);

  const forgetAfter = async (days: number) => {
    const at = new Date(Date.now() + days * 86_400_000);
    await sweepSignInTraces(db.pool, at, new AbortController().signal);
  };
  await forgetAfter(364);
  await expect(setLogin(db, { personId: other, username: "ira.neu", password: "geheim" }, origin)).rejects.toThrow();
  await forgetAfter(367);
  const forgotten = "SELECT FROM user_name WHERE person_id IS NULL UNION ALL SELECT FROM user_name_number";
  expect((await db.pool.query(forgotten)).rows).toEqual([]);
  await setLogin(db, { personId: other, username: "ira.neu", password: "geheim" }, origin);
  await run(`${header}4;student;Uwe;;Alt\n`, { school: next });
  expect(await namesOf(next)).toContain("uwe.alt3");
});

test("numbers that were taken by hand are passed over", async () => {
  const school = await make.school();
  for (const username of ["kai.frei", "kai.frei3", "kai.frei4"]) {
    const personId = await make.person({ school: await make.school() });
    await setLogin(db, { personId, username, password: "geheim" }, origin);
  }
  await run(`${header}1;student;Kai;;Frei\n2;student;Kai;;Frei\n3;student;Kai;;Frei\n`, { school });
  expect(await namesOf(school)).toEqual(["kai.frei2", "kai.frei5", "kai.frei6"]);
});

test("a school can take user names from its roster, where one that cannot be is a fault", async () => {
  const school = await make.school();
  await setRule(school, "ROSTER");
  const withNames = "id;role;first_name;last_name;username\n";
  await run(`${withNames}1;student;Lea;Lang;LLang@Schule\n2;student;Max;Lang;\n`, { school });
  expect(await namesOf(school)).toEqual(["llang@schule", "max.lang"]);
  await run(`${withNames}1;student;Lea;Lang;other\n2;student;Max;Lang;max.lang\n`, { school });
  expect(await namesOf(school)).toEqual(["llang@schule", "max.lang"]);

  const rows = ["1;student;Lea;Lang;", "2;student;Max;Lang;", "3;student;A;B;Max.Lang", "4;student;A;B;a b"];
  const more = [
    `5;student;A;B;${"x".repeat(65)}`,
    "6;student;A;B;same",
    "7;student;A;B;SAME",
    "8;student;A;B;max.lang2",
  ];
  expect(await faults(`${withNames}${[...rows, ...more].join("\n")}\n`, { school })).toEqual([
    "file:4:- username username_taken",
    "file:5:- username username_refused",
    "file:6:- username username_refused",
    "file:8:- username username_twice",
  ]);
  const free = await make.school();
  await run(`${withNames}1;student;Lea;Lang;a b\n2;student;Max;Lang;max.lang\n`, { school: free });
  expect(await namesOf(free)).toEqual(["lea.lang", "max.lang2"]);
});

test("OneRoster has user names too, also where roles are a file of their own", async () => {
  const school = await make.school();
  const { officialId } = await db.prisma.school.findUniqueOrThrow({ where: { id: school } });
  await setRule(school, "ROSTER");
  const archive = await zip({
    "orgs.csv": `sourcedId,name,type,identifier\no1,School,school,${officialId}\n`,
    "classes.csv": "sourcedId,title,classType,schoolSourcedId\n",
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
    "users.csv": "sourcedId,username,givenName,familyName\nu1,Uno.Eins,Uno,Eins\nu2,,Due,Zwei\n",
    "roles.csv":
      "sourcedId,userSourcedId,role,roleType,orgSourcedId\nr1,u1,student,primary,o1\nr2,u2,teacher,primary,o1\n",
  });
  await run(archive);
  expect(await namesOf(school)).toEqual(["due.zwei", "uno.eins"]);
});

test("many people get their names in a few statements", async () => {
  const school = await make.school();
  await run(header + Array.from({ length: 60 }, (_, n) => `${n};student;F${"abcdefghij"[n % 10]};;Z\n`).join(""), {
    school,
  });
  await db.pool.query("DELETE FROM credential WHERE person_id IN (SELECT id FROM person WHERE home_school_id = $1)", [
    school,
  ]);
  let count = 0;
  const asked = await recordQueries(/./, async () => {
    count = await giveUserNamesAtSchool(db, { schoolId: school, findRosterNames: async () => new Map() }, origin);
  });
  expect([count, asked.length < 20]).toEqual([60, true]);
});
