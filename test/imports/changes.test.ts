// @module-tag every-postgresql
import { expect, test } from "vitest";
import { confirmImport, getImport } from "../../src/imports/index.ts";
import { sampleImport } from "../support/import-samples.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { fingerprint, makeImporter, now, origin, readDirectory, zip } from "./rosters.ts";
import { untilImportWaits, waitWithoutEnd } from "../support/waiting.ts";

const db = await testDatabase();
waitWithoutEnd(db.pool);
const make = makeMakers(db);
const { run, preview, apply } = makeImporter(db);
const header = "id;role;first_name;call_name;last_name;classes;courses;status\n";

type School = Awaited<ReturnType<typeof makeSchool>>;

async function makeSchool() {
  const officialId = `DE-${Math.random().toString(36).slice(2)}`;
  return { school: await make.school({ officialId }), officialId };
}
const personOf = (school: string, sourceId: string) =>
  db.prisma.person.findFirstOrThrow({ where: { homeSchoolId: school, sourceSystemIdentifier: sourceId } });
const groupOf = (school: string, sourceId: string) =>
  db.prisma.group.findFirst({ where: { schoolId: school, sourceSystemIdentifier: sourceId } });
const membersOf = async (groupId: string) =>
  (
    await db.pool.query<{ id: string }>(
      "SELECT p.source_system_identifier AS id FROM membership m JOIN person p ON p.id = m.person_id WHERE m.group_id = $1 ORDER BY 1",
      [groupId],
    )
  ).rows.map(({ id }) => id);

test("people who are no longer in a whole file are soft-deleted, and who returns is the same person with the same id", async () => {
  const { school } = await makeSchool();
  const all = `${header}1;student;Ada;;Muster;5a;;\n2;student;Bo;;Bei;5a;;\n3;student;Cem;;Chor;5a;;\n4;teacher;Dan;;Dur;5a;;\n`;
  await run(all, { school });
  const bo = await personOf(school, "2");
  const { schools } = await run(all.replace("2;student;Bo;;Bei;5a;;\n", ""), { school });
  expect(schools[0]!.counts).toMatchObject({
    people: { removed: 1, created: 0, changed: 0 },
    memberships: { removed: 0 },
  });
  expect(await personOf(school, "2")).toMatchObject({
    id: bo.id,
    status: "SOFT_DELETED",
    purgeAt: new Date(now.getTime() + 30 * 86_400_000),
  });
  const again = await run(all.replace("Bo;;Bei", "Bo;Bobo;Bei"), { school });
  expect(again.schools[0]!.counts.people).toMatchObject({ restored: 1, changed: 0, created: 0 });
  expect(await personOf(school, "2")).toMatchObject({ id: bo.id, status: "ACTIVE", purgeAt: null, firstCall: "Bobo" });
});

test("what was made by hand stays as it is", async () => {
  const { school } = await makeSchool();
  const group = await make.group({ school });
  const byHand = await make.person({
    school,
    groups: [group],
    name: { firstFull: "By", firstCall: "By", last: "Hand" },
  });
  await run(`${header}1;student;Ada;;Muster;5a;;\n`, { school });
  const ada = await personOf(school, "1");
  await make.membership({ group, person: ada.id as typeof byHand });
  await run(`${header}1;student;Ada;;Muster;;;\n2;student;Bo;;Bei;;;\n`, { school });
  expect(await db.prisma.person.findUniqueOrThrow({ where: { id: byHand } })).toMatchObject({ status: "ACTIVE" });
  expect(await db.prisma.group.findUniqueOrThrow({ where: { id: group } })).toMatchObject({ status: "ACTIVE" });
  expect((await db.prisma.membership.findMany({ where: { groupId: group } })).length).toBe(2);
});

test("an import that removes more than a third of the people or groups is held until that is confirmed", async () => {
  const { school } = await makeSchool();
  const six = (n: number) =>
    header + Array.from({ length: n }, (_, i) => `${i};student;A;;B${i};${i < 2 ? "5a" : "5b"};;\n`).join("");
  await run(six(6), { school });
  expect((await preview(six(4), { school })).state).toBe("READY");
  const held = await preview(six(3), { school });
  expect(held).toMatchObject({
    state: "HELD",
    schools: [{ state: "HELD", counts: { people: { removed: 3 }, before: { people: 6, groups: 2 } } }],
  });
  const before = await fingerprint(db);
  await expect(apply(held.id)).rejects.toMatchObject({ code: "import_held" });
  expect(await fingerprint(db)).toBe(before);
  expect((await preview(six(6).replaceAll("5b", "5a"), { school })).state).toBe("HELD");
  await confirmImport(db, held.id, origin);
  expect((await apply(held.id)).state).toBe("APPLIED");
  expect(await db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } })).toBe(3);
  await expect(apply(held.id)).rejects.toMatchObject({ code: "import_applied" });
});

test("agreeing to a removal does not agree to a larger one that the school's changes made of it", async () => {
  const { school } = await makeSchool();
  const people = (ids: number[]) => header + ids.map((id) => `${id};student;A;;B${id};;;\n`).join("");
  await run(people([1, 2, 3, 4]), { school });
  const held = await preview(people([1, 2]), { school });
  await confirmImport(db, held.id, origin);
  await run(people([1, 2, 3, 4, 5, 6, 7]), { school });
  await expect(apply(held.id)).rejects.toMatchObject({ code: "import_held" });
  expect(await db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } })).toBe(7);

  expect(await getImport(db, held.id)).toMatchObject({
    state: "HELD",
    schools: [{ counts: { people: { removed: 5 }, before: { people: 7 } } }],
  });
  await confirmImport(db, held.id, origin);
  await apply(held.id);
  expect(await db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } })).toBe(2);
  expect(await db.prisma.audit.count({ where: { schoolId: school, action: "import_confirmed" } })).toBe(2);
});

test("at the change of the school year groups are carried over with their ids or end, and the preview shows which", async () => {
  const { school } = await makeSchool();
  await run(`${header}1;student;Ada;;Muster;5a;;\n2;student;Bo;;Bei;6a;;\n3;student;Cem;;Chor;7a;Chor;\n`, { school });
  const [old5, old6, old7] = await Promise.all(["class:5a", "class:6a", "class:7a"].map((id) => groupOf(school, id)));
  const nextYear = `${header}1;student;Ada;;Muster;6a;;\n2;student;Bo;;Bei;7a;;\n3;student;Cem;;Chor;;Chor;\n4;student;New;;Pupil;5a;;\n`;
  const wishes = {
    school,
    schoolYear: "2026/27",
    carryOvers: new Map([
      ["class:6a", "class:5a"],
      ["class:7a", "class:6a"],
    ]),
  };
  const seen = await preview(nextYear, wishes);
  expect(seen.schools[0]!.counts.groups).toEqual({ created: 1, changed: 0, carriedOver: 2, restored: 0, removed: 1 });
  const samples = [...(await sampleImport(db, seen.id, now)).values()].flat().filter(({ kind }) => kind === "group");
  expect(
    samples.map(({ change, previousSourceId, sourceId }) => `${change} ${previousSourceId ?? ""}>${sourceId}`),
  ).toEqual([
    "carried_over class:5a>class:6a",
    "carried_over class:6a>class:7a",
    "created >class:5a",
    "removed >class:7a",
  ]);
  await apply(seen.id);
  expect(await groupOf(school, "class:6a")).toMatchObject({ id: old5!.id, name: "6a", status: "ACTIVE" });
  expect(await groupOf(school, "class:7a")).toMatchObject({ id: old6!.id, name: "7a", status: "ACTIVE" });
  expect(await db.prisma.group.findUnique({ where: { id: old7!.id } })).toMatchObject({
    status: "DELETED",
    sourceSystemIdentifier: null,
  });
  expect([await membersOf(old5!.id), await membersOf(old6!.id), await membersOf(old7!.id)]).toEqual([
    ["1"],
    ["2"],
    ["3"],
  ]);
});

test("OneRoster carries groups over by a column of its own", async () => {
  const { school, officialId } = await makeSchool();
  const files = (id: string, previous: string) =>
    zip({
      "orgs.csv": `sourcedId,type,identifier\no,school,${officialId}\n`,
      "users.csv": "sourcedId,orgSourcedIds,role,givenName,familyName\nu1,o,student,Ada,Muster\n",
      "classes.csv": `sourcedId,title,classType,schoolSourcedId,metadata.previousSourcedId\n${id},${id},homeroom,o,${previous}\n`,
      "enrollments.csv": `sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\ne,${id},o,u1,student\n`,
    });
  await run(await files("2025-5a", ""));
  const old = await groupOf(school, "2025-5a");
  await run(await files("2026-6a", "2025-5a"));
  expect(await groupOf(school, "2026-6a")).toMatchObject({ id: old!.id, name: "2026-6a", status: "ACTIVE" });
});

test("a OneRoster delta changes what it names and nothing else", async () => {
  const { officialId } = await makeSchool();
  const orgs = `sourcedId,type,identifier\no-${officialId},school,${officialId}\n`;
  const o = `o-${officialId}`;
  await run(
    await zip({
      "orgs.csv": orgs,
      "users.csv": `sourcedId,orgSourcedIds,role,givenName,familyName\nu1,${o},student,Ada,Muster\nu2,${o},student,Bo,Bei\nu3,${o},student,Cem,Chor\nu4,${o},student,Dan,Dur\n`,
      "classes.csv": `sourcedId,title,classType,schoolSourcedId\nc1,5a,homeroom,${o}\nc2,5b,homeroom,${o}\nc3,5c,homeroom,${o}\nc4,5d,homeroom,${o}\n`,
      "enrollments.csv": `sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\ne1,c1,${o},u1,student\ne2,c1,${o},u2,student\ne3,c2,${o},u3,student\n`,
    }),
  );
  const delta = await zip({
    "manifest.csv":
      "propertyName,value\noneroster.version,1.1\nfile.orgs,bulk\nfile.users,delta\nfile.classes,delta\nfile.enrollments,delta\n",
    "orgs.csv": orgs,
    "users.csv": `sourcedId,status,orgSourcedIds,role,givenName,familyName\nu1,active,${o},student,Ada,Married\nu4,tobedeleted,${o},student,Dan,Dur\nu5,active,${o},teacher,Eva,Ernst\n`,
    "classes.csv": `sourcedId,status,title,classType,schoolSourcedId\nc3,tobedeleted,5c,homeroom,${o}\nc2,active,5B,homeroom,${o}\n`,
    "enrollments.csv": `sourcedId,status,classSourcedId,schoolSourcedId,userSourcedId,role\ne2,tobedeleted,c1,${o},u2,student\ne4,active,c4,${o},u2,student\ne5,active,c2,${o},u5,teacher\n`,
  });
  const { mode, schools } = await run(delta);
  expect(mode).toBe("DELTA");
  expect(schools[0]!.counts).toMatchObject({
    people: { created: 1, changed: 1, removed: 1 },
    groups: { created: 0, changed: 1, removed: 1 },
    memberships: { created: 2, removed: 1 },
  });
  expect(
    (await readDirectory(db)).groups
      .filter((group) => group.startsWith(officialId))
      .map((group) => group.slice(officialId.length + 1)),
  ).toEqual(["c1 KLASSE 5a u1=STUDENT", "c2 KLASSE 5B u3=STUDENT,u5=TEACHER", "c4 KLASSE 5d u2=STUDENT"]);
});

test("a person of several schools is one person, and moves between schools of the same files with the same id", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  const context = (to: { officialId: string }) => ({
    organisation: { kennung: to.officialId },
    rolle: "LERN",
    gruppen: [],
  });
  const file = (pupil: object[], other: object[]) =>
    JSON.stringify([
      { pid: "mover", person: { name: { vorname: "Mo", familienname: "Ver" } }, personenkontexte: pupil },
      { pid: "guest", person: { name: { vorname: "Gu", familienname: "Est" } }, personenkontexte: other },
      ...["x", "y", "z"].flatMap((id) =>
        [a, b].map((to) => ({ pid: `${id}-${to.officialId}`, personenkontexte: [context(to)] })),
      ),
    ]);
  await run(file([context(a)], [context(b), context(a)]));
  const mover = await personOf(a.school, "mover");
  const affiliations = async (sourceId: string) =>
    (await db.prisma.affiliation.findMany({ where: { person: { sourceSystemIdentifier: sourceId } } }))
      .map(({ schoolId }) => (schoolId === a.school ? "a" : "b"))
      .sort();
  expect([await affiliations("mover"), await affiliations("guest")]).toEqual([["a"], ["a", "b"]]);
  await run(file([context(b)], [context(b)]));
  expect(await personOf(b.school, "mover")).toMatchObject({ id: mover.id, status: "ACTIVE" });
  expect([await affiliations("mover"), await affiliations("guest")]).toEqual([["b"], ["b"]]);
});

test("who moves to another school of the same files is not missing where the share of removals is counted", async () => {
  // In the order in which an import goes through them.
  const [a, b] = [await makeSchool(), await makeSchool()].sort((one, other) =>
    one.school < other.school ? -1 : 1,
  ) as [School, School];
  const record = (pid: string, at: { officialId: string }) => ({
    pid,
    personenkontexte: [{ organisation: { kennung: at.officialId }, rolle: "LERN", gruppen: [] }],
  });
  await run(JSON.stringify([record("first", a), record("changer", b), record("leaver", b), record("stayer", b)]));
  const seen = await preview(JSON.stringify([record("first", a), record("changer", a), record("stayer", b)]));
  expect(seen.schools).toMatchObject([
    { id: a.school },
    { id: b.school, state: "READY", counts: { people: { removed: 1 }, before: { people: 3 } } },
  ]);
  expect(await apply(seen.id)).toMatchObject({
    state: "APPLIED",
    schools: [{ id: a.school }, { id: b.school, counts: { people: { removed: 1 }, before: { people: 3 } } }],
  });
});

test("apps are told of what an import changes, each in its own view, and of nothing when it changes nothing", async () => {
  const { school } = await makeSchool();
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school });
  const events = async () =>
    (
      await db.pool.query<{ text: string }>(
        "SELECT concat_ws(' ', type, action, array_to_string(updated_properties, ',')) AS text FROM app_event WHERE client_id = $1 ORDER BY seq",
        [clientId],
      )
    ).rows.map(({ text }) => text.trim());
  const before = (await events()).length;
  await run(`${header}1;student;Ada;;Muster;5a;;\n2;student;Bo;;Bei;5a;;\n3;student;Cem;;Chor;5a;;\n`, { school });
  expect((await events()).slice(before).sort()).toEqual(["person create", "person create", "person create"]);
  await run(`${header}1;student;Ada;;Married;5a;;\n3;student;Cem;;Chor;5a;;\n`, { school });
  expect((await events()).slice(before + 3).sort()).toEqual(["person delete status", "person update name"]);
  await run(`${header}1;student;Ada;;Married;5a;;\n3;student;Cem;;Chor;5a;;\n`, { school });
  expect((await events()).length).toBe(before + 5);
});

test("a second import of a school is told that one is running; another school's goes on", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  const roster = `${header}1;student;Ada;;Muster;5a;;\n`;
  const [one, two, other] = [await preview(roster, a), await preview(roster, a), await preview(roster, b)];
  const blocker = await db.pool.connect();
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM import_school WHERE import_id = $1 FOR UPDATE", [one.id]);
  const first = apply(one.id);
  await untilImportWaits(db);
  await expect(apply(two.id)).rejects.toMatchObject({ code: "import_running" });
  expect((await apply(other.id)).state).toBe("APPLIED");
  await blocker.query("ROLLBACK");
  blocker.release();
  expect((await first).state).toBe("APPLIED");
  await expect(apply(two.id)).rejects.toMatchObject({ code: "import_changed" });
  expect((await apply(two.id)).schools[0]!.counts.people.created).toBe(0);
});
