import { beforeEach, expect, test } from "vitest";
import type { SchoolId } from "../../../src/directory/index.ts";
import { withTransaction } from "../../../src/platform/database/db.ts";
import { zip } from "../../imports/rosters.ts";
import { makeStaff, refusalOf, type AdminClient, type Sent, readPages } from "../../support/admin.ts";
import { expectDescribed } from "../../support/described.ts";
import { rosterOf as csv, rosterType, untilDone } from "../../support/import-office.ts";
import { makeMakers } from "../../support/make.ts";
import { asOthers } from "../../support/one-connection.ts";
import { startService } from "../../support/service.ts";
import { untilStopped, waitForTest, whileStopped } from "../../support/standstill.ts";
import { untilImportWaits, untilWaiting } from "../../support/waiting.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const nowhere = "00000000-0000-4000-8000-00000000dead";

await db.pool.query(`${waitForTest};
    CREATE TRIGGER wait_for_test BEFORE INSERT ON import_school FOR EACH STATEMENT EXECUTE FUNCTION wait_for_test()`);

let school: SchoolId;
let officialId: string;
let office: AdminClient;
let support: AdminClient;

const operator = (await makeStaff(service, "OPERATOR")).call;

let count = 0;
beforeEach(async () => {
  officialId = `DE-S-${++count}`;
  school = await make.school({ officialId });
  office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
  support = (await makeStaff(service, "SUPPORT", { schoolIds: [school] })).call;
});

type Shown = { id: string; state: string; leavers: number; progress: { phase: string } | null };
type Leaver = { id: string; name: { last: string } | null; classes: string[]; losesAccess: boolean };
type GroupChange = { groupId: string | null; name: string; step: string; members: Record<string, number> };

const headers = rosterType;
const handIn = async (file: Buffer, query = "", call = office) =>
  (await call("POST", `/imports?school=${school}${query}`, { body: file, headers })).body as Shown;
const apply = (id: string, body: object = {}, { call = office, query = "" } = {}) =>
  call("POST", `/imports/${id}/application${query}`, { body });
const cancel = (id: string, call = office) => call("POST", `/imports/${id}/cancellation`);
const read = async (id: string) => (await office("GET", `/imports/${id}`)).body as Shown;
const countActive = () => db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } });
const staged = (importId: string) => db.prisma.stagedPerson.count({ where: { importId } });

const nine = Array.from({ length: 9 }, (_, n) => `${n + 1};student;Kind;Name ${n + 1};${n < 5 ? "5a" : "5b"}`);

async function startSchool(rows: string[] = nine): Promise<void> {
  const { id } = await handIn(csv(...rows));
  expect((await apply(id)).status).toBe(200);
}

test("an import is applied once, with an audit line of the caller, and applying again answers it", async () => {
  const { id } = await handIn(csv("1;student;Jörg;Müßig;5a"));
  const applied = await apply(id);
  expectDescribed("applyImport", applied);
  expect([applied.status, applied.body]).toEqual([200, expect.objectContaining({ state: "APPLIED", progress: null })]);
  expect(await countActive()).toBe(1);
  const lines = { where: { action: "import_applied", schoolId: school } };
  expect(await db.prisma.audit.findMany({ ...lines, orderBy: { id: "asc" } })).toMatchObject([
    { actorRole: "SECRETARY", detail: { importId: id } },
  ]);
  const again = await apply(id);
  expect([again.status, again.body]).toEqual([200, applied.body]);
  expect(await db.prisma.audit.count(lines)).toBe(1);
  expect(await staged(id)).toBe(0);
});

test("everybody who leaves is listed by name with their classes, in pages, until the import is applied", async () => {
  await startSchool([
    "1;student;Ärne;Öz;5a|5c",
    "2;student;Bo;Beispiel;5a",
    "3;teacher;Cem;Ünal;",
    "4;student;Di;Zet;5b",
  ]);
  const elsewhere = await make.school();
  const { id: guest } = (await db.prisma.person.findFirst({
    where: { homeSchoolId: school, sourceSystemIdentifier: "2" },
  }))!;
  await operator("PUT", `/people/${guest}/schools/${elsewhere}`);
  const made = await handIn(csv("4;student;Di;Zet;5b"));
  expect([made.state, made.leavers]).toEqual(["HELD", 3]);
  const listed = await office("GET", `/imports/${made.id}/leavers`);
  expectDescribed("listImportLeavers", listed);
  const leavers = listed.body as Leaver[];
  expect(leavers.map(({ name, classes, losesAccess }) => [name!.last, classes, losesAccess])).toEqual([
    ["Beispiel", ["5a"], false],
    ["Öz", ["5a", "5c"], true],
    ["Ünal", [], true],
  ]);
  expect(leavers[0]!.id).toBe(guest);
  const pages = await readPages(office, `/imports/${made.id}/leavers?limit=2`);
  expect([pages.length, pages.flat()]).toEqual([2, leavers]);
  expect((await support("GET", `/imports/${made.id}/leavers?school=${school}`)).body).toEqual(leavers);
  expect(refusalOf(await office("GET", `/imports/${made.id}/leavers?school=${nowhere}`))).toEqual([
    404,
    "school_not_found",
  ]);
  expect((await apply(made.id, { confirmLeavers: 3 })).status).toBe(200);
  const after = await office("GET", `/imports/${made.id}/leavers`);
  expectDescribed("listImportLeavers", after);
  expect(refusalOf(after)).toEqual([409, "import_applied"]);
});

test("what an import does is counted for each group", async () => {
  await startSchool([
    ...["1;student;A;A;5a", "2;student;B;B;5a", "3;student;C;C;5a", "4;student;D;D;5a"],
    ...["5;student;E;E;5b", "6;student;F;F;9z"],
  ]);
  const byHand = await make.group({ school, name: "Von Hand" });
  const { id: leaver } = (await db.prisma.person.findFirst({
    where: { homeSchoolId: school, sourceSystemIdentifier: "4" },
  }))!;
  await office("PUT", `/groups/${byHand}/members/${leaver}`, { body: {} });
  const made = await handIn(
    csv(
      "1;student;A;A;5a",
      "2;student;B;Neu;5a",
      "3;student;C;C;5b",
      "5;student;E;E;5b",
      "6;student;F;F;",
      "7;student;G;G;5a|1x",
    ),
  );
  const listed = await office("GET", `/imports/${made.id}/changes`);
  expectDescribed("listImportChanges", listed);
  const none = { new: 0, movedIn: 0, movedOut: 0, left: 0, changed: 0, same: 0 };
  expect((listed.body as GroupChange[]).map(({ name, step, members }) => [name, step, members])).toEqual([
    ["1x", "CREATED", { ...none, new: 1 }],
    ["5a", "NONE", { ...none, new: 1, movedOut: 1, left: 1, changed: 1, same: 1 }],
    ["5b", "NONE", { ...none, movedIn: 1, same: 1 }],
    ["9z", "REMOVED", { ...none, movedOut: 1 }],
    ["Von Hand", "NONE", { ...none, left: 1 }],
  ]);
  expect((listed.body as GroupChange[]).map(({ groupId }) => groupId === null)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  expect((await readPages(office, `/imports/${made.id}/changes?limit=2`)).flat()).toEqual(listed.body);
});

test("an import that is held wants the number of people who leave, and no other", async () => {
  await startSchool();
  const made = await handIn(csv(...nine.slice(0, 4)));
  expect([made.state, made.leavers]).toEqual(["HELD", 5]);
  const untyped = await apply(made.id);
  expectDescribed("applyImport", untyped);
  expect(refusalOf(untyped)).toEqual([409, "import_held"]);
  const wrong = await apply(made.id, { confirmLeavers: 4 });
  expectDescribed("applyImport", wrong);
  expect(refusalOf(wrong)).toEqual([409, "leavers_not_confirmed"]);
  expect([await countActive(), (await read(made.id)).state]).toEqual([9, "HELD"]);
  expect((await apply(made.id, { confirmLeavers: 5 })).body).toMatchObject({ state: "APPLIED" });
  expect(await countActive()).toBe(4);
  const line = await db.prisma.audit.findFirst({ where: { action: "import_confirmed", schoolId: school } });
  expect(line).toMatchObject({ actorRole: "SECRETARY", detail: { importId: made.id, removed: { people: 5 } } });
});

/** Keeps an import in the middle of a school until `work` is done. */
async function whileApplying(id: string, work: () => Promise<void>): Promise<void> {
  await withTransaction(db, async (tx) => {
    await tx.query("SELECT FROM import_school WHERE import_id = $1 FOR UPDATE", [id]);
    const going = await apply(id, {}, { query: "?in-background=true" });
    expectDescribed("applyImport", going);
    expect([going.status, going.body]).toEqual([
      202,
      expect.objectContaining({ progress: expect.objectContaining({ percent: 0 }) as object }),
    ]);
    await asOthers(() => untilImportWaits(db));
    expect((await read(id)).progress).toEqual({ phase: "APPLYING", percent: 0, place: null });
    await work();
  });
  // It ends behind the answer, and tells nobody.
  while ((await read(id)).state !== "APPLIED");
}

test("an import goes on being applied behind the answer; nobody cancels it then, and applying again waits for it", async () => {
  const { id } = await handIn(csv("1;student;A;A;5a"));
  const other = await handIn(csv("2;student;B;B;5a"));
  await whileApplying(id, async () => {
    const refused = await cancel(id);
    expectDescribed("cancelImport", refused);
    expect(refusalOf(refused)).toEqual([409, "import_running"]);
    expect((await apply(id)).status).toBe(202);
    expect(refusalOf(await apply(other.id))).toEqual([409, "import_running"]);
  });
  expect(await db.prisma.audit.count({ where: { action: "import_applied", schoolId: school } })).toBe(1);
});

test("an import that is not wanted is cancelled, and what was read of its file goes at once", async () => {
  const { id } = await handIn(csv("1;student;A;A;5a"));
  expect(await staged(id)).toBe(1);
  expect((await cancel(id)).status).toBe(204);
  expect([await staged(id), (await read(id)).state]).toEqual([0, "CANCELLED"]);
  expect((await cancel(id)).status).toBe(204);
  const lines = await db.prisma.audit.findMany({
    where: { action: "import_cancelled", schoolId: school },
    orderBy: { id: "asc" },
  });
  expect(lines).toMatchObject([{ actorRole: "SECRETARY", detail: { importId: id } }]);
  expect(refusalOf(await apply(id))).toEqual([409, "import_cancelled"]);
  expect(refusalOf(await office("GET", `/imports/${id}/changes`))).toEqual([409, "import_cancelled"]);
  const broken = await handIn(csv("1;pirate;A;A;5a"));
  expect(refusalOf(await apply(broken.id))).toEqual([409, "import_broken"]);
  expect((await cancel(broken.id)).status).toBe(204);
  expect(await db.prisma.importError.count({ where: { importId: broken.id, lineText: { not: null } } })).toBe(0);
  const done = await handIn(csv("1;student;A;A;5a"));
  await apply(done.id);
  expect(refusalOf(await cancel(done.id))).toEqual([409, "import_applied"]);
});

test("one that is cancelled while the reading writes its result is cancelled after that", async () => {
  let id = "";
  let cancelling!: Promise<Sent>;
  await whileStopped(db, async () => {
    ({ id } = await handIn(csv("1;student;A;A;5a"), "&in-background=true"));
    await untilStopped(db);
    cancelling = cancel(id);
    await untilWaiting(db, 1, { starting: "SELECT FROM" });
  });
  expect((await cancelling).status).toBe(204);
  expect([(await untilDone<Shown>(office, id)).state, await staged(id)]).toEqual(["CANCELLED", 0]);
});

test("an import of several schools is applied by who reaches all of them, and listed school by school", async () => {
  const [other, otherId] = [await make.school({ officialId: `${officialId}-B` }), `${officialId}-B`];
  const { call: district } = await makeStaff(service, "DISTRICT", { schoolIds: [school, other] });
  const archive = await zip({
    "orgs.csv": `sourcedId,name,type,identifier\no1,A,school,${officialId}\no2,B,school,${otherId}\n`,
    "users.csv": "sourcedId,orgSourcedIds,role,givenName,familyName\nu1,o1,student,Ada,B\nu2,o2,student,Cem,D\n",
    "classes.csv": "sourcedId,title,classType,schoolSourcedId\nc1,5a,homeroom,o1\n",
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\ne1,c1,o1,u1,student\n",
  });
  const made = (await district("POST", "/imports", { body: archive, headers })).body as Shown;
  expect(made.state).toBe("READY");
  expect(refusalOf(await district("GET", `/imports/${made.id}/changes`))).toEqual([400, "school_missing"]);
  expect((await district("GET", `/imports/${made.id}/changes?school=${school}`)).body).toMatchObject([{ name: "5a" }]);
  expect((await district("GET", `/imports/${made.id}/changes?school=${other}`)).body).toEqual([]);
  for (const sent of [await apply(made.id), await cancel(made.id), await office("GET", `/imports/${made.id}/leavers`)])
    expect(refusalOf(sent)).toEqual([404, "import_not_found"]);
  expect((await apply(made.id, {}, { call: district })).status).toBe(200);
  expect(await db.prisma.person.count({ where: { homeSchoolId: { in: [school, other] } } })).toBe(2);
});

test("faulty rows are listed with their columns and left out; warnings are listed; a support reads", async () => {
  await startSchool();
  const rows = [...nine.slice(0, 7), "8;wizard;Kind;Name 8;5b", "10;student;Kind;Ne?;5B"];
  const { id, ...broken } = await handIn(csv(...rows));
  expect(broken).toMatchObject({
    state: "BROKEN",
    errorCount: 1,
    warningCount: 3,
    rows: { readable: 8, faulty: 1, withoutId: 0 },
  });
  for (const call of [office, support]) {
    const faulty = await call("GET", `/imports/${id}/faulty-rows`);
    expectDescribed("listImportFaultyRows", faulty);
    expect(faulty.body).toMatchObject([
      {
        line: 9,
        isIdReadable: true,
        fields: [
          { heading: "id", value: "8" },
          { heading: "role", value: "wizard" },
          { heading: "first_name", value: "Kind" },
          { heading: "last_name", value: "Name 8" },
          { heading: "classes", value: "5b" },
        ],
        faults: [{ code: "unknown_role" }],
      },
    ]);
    expectDescribed("listImportWarnings", await call("GET", `/imports/${id}/warnings`));
    const pages = await readPages<{ kind: string; line: number }>(call, `/imports/${id}/warnings?limit=2`);
    expect(pages.flat().map(({ kind, line }) => [kind, line])).toEqual([
      ["GROUP_SPELLING", 7],
      ["GROUP_SPELLING", 10],
      ["CHARACTERS_LOST", 10],
    ]);
  }
  const leaveOut = (call: AdminClient, of = id) => call("POST", `/imports/${of}/left-out-rows`);
  expect((await leaveOut(support)).status).toBe(403);
  const done = await leaveOut(office);
  expect(done.status).toBe(204);
  expect(refusalOf(await leaveOut(office))).toEqual([409, "faults_remain"]);
  expect(await read(id)).toMatchObject({ state: "READY", errorCount: 0, leavers: 1, rows: { faulty: 1 } });
  expect((await apply(id)).status).toBe(200);
  expect(await countActive()).toBe(9);
});
