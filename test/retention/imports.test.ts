import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { restorePerson, softDeletePerson, type PersonId, type SchoolId } from "../../src/directory/index.ts";
import { confirmUndo, undoImport, type ImportId } from "../../src/imports/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { makeRetentionJob, putExemption, putPolicy } from "../../src/retention/index.ts";
import { makeImporter, origin, readDirectory } from "../imports/rosters.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeTestClock } from "../support/service.ts";
import { retentionRules as rules } from "./rules.ts";

const db = await testDatabase();
const make = makeMakers(db);
const start = new Date("2026-02-03T08:00:00Z");
const clock = makeTestClock(start);
const { run } = makeImporter(db, () => ({ ...origin, at: clock() }));
const job = makeRetentionJob({ db, clock, rules });
const signal = new AbortController().signal;

const header = "id;role;first_name;last_name;classes\n";
const ada = "1;student;Ada;Muster;5a\n";
const bo = "2;student;Bo;Bei;5a\n";
const cem = "3;student;Cem;Chor;5b\n";
const all = header + ada + bo + cem;

const keepFor = (schoolId: SchoolId, value: number) =>
  withPrismaTransaction(db, (tx) => {
    const policy = {
      leftMonths: { value, reason: "School law.", from: "LEAVING" as const },
      inactiveMonths: null,
      restoreDays: null,
      auditDays: null,
    };
    return putPolicy(tx, { subject: { schoolId }, policy, rules: { ...rules, noticeDays: 0 } }, { at: clock() });
  });
const personOf = (school: string, sourceId: string) =>
  db.prisma.person.findFirstOrThrow({
    where: { homeSchoolId: school, sourceSystemIdentifier: sourceId },
    include: { affiliations: { include: { memberships: { include: { group: true } } } } },
  });
const classesOf = async (school: string, sourceId: string) =>
  (await personOf(school, sourceId)).affiliations.flatMap(({ memberships }) =>
    memberships.map(({ group }) => group.name),
  );
const undo = async (id: ImportId) =>
  undoImport(
    db,
    id,
    { kept: await confirmUndo(db, id, { confirmed: undefined, now: clock() }), restoreWindowDays: 30 },
    { ...origin, at: clock() },
  );

/** A school that keeps leavers for a year, from whose roster Cem has gone. */
async function leaveOne(): Promise<{ school: SchoolId; importId: ImportId }> {
  clock.set(start);
  const school = await make.school();
  await keepFor(school, 12);
  await run(all, { school });
  clock.forwardSeconds(60);
  const { id } = await run(header + ada + bo, { school, agree: true });
  return { school, importId: id };
}

test("by default a roster soft-deletes at once who is at no school left", async () => {
  clock.set(start);
  const school = await make.school();
  await run(all, { school });
  clock.forwardSeconds(60);
  await run(header + ada + bo, { school });
  expect(await personOf(school, "3")).toMatchObject({ status: "SOFT_DELETED", leftAt: null });
});

test("a school that keeps its leavers has them in no class, apps lose the member and keep the user, the same file changes nothing", async () => {
  clock.set(start);
  const school = await make.school();
  await keepFor(school, 12);
  await run(all, { school });
  const app = await make.app();
  const groups = await db.prisma.group.findMany({ where: { schoolId: school } });
  await make.grant({ app: app.clientId, school, groups: groups.map(({ id }) => id as never) });
  clock.forwardSeconds(60);
  const left = await run(header + ada + bo, { school, agree: true });
  expect(left.schools[0]!.counts.people).toMatchObject({ removed: 1 });
  const person = await personOf(school, "3");
  expect([person.status, person.leftAt, await classesOf(school, "3")]).toEqual(["ACTIVE", clock(), []]);
  const events = await db.prisma.appEvent.findMany({ where: { subjectId: person.id }, orderBy: { seq: "desc" } });
  expect(events[0]).toMatchObject({ type: "person" });
  clock.forwardSeconds(60);
  const again = await run(header + ada + bo, { school });
  expect(Object.values(again.schools[0]!.counts.people).every((count) => count === 0)).toBe(true);
  expect((await personOf(school, "3")).leftAt).toEqual(person.leftAt);
});

test("the year begins with the day of leaving, and the file that names the person again ends it", async () => {
  const { school } = await leaveOne();
  clock.set("2027-02-03T08:00:30Z");
  await job.run(signal);
  expect((await personOf(school, "3")).status).toBe("ACTIVE");
  await run(all, { school });
  expect(await personOf(school, "3")).toMatchObject({ status: "ACTIVE", leftAt: null });
  expect(await classesOf(school, "3")).toEqual(["5b"]);
  clock.set("2027-02-04T08:01:00Z");
  await job.run(signal);
  expect((await personOf(school, "3")).status).toBe("ACTIVE");
  await run(header + ada + bo, { school, agree: true });
  clock.set("2028-02-05T08:01:00Z");
  await job.run(signal);
  expect((await personOf(school, "3")).status).toBe("SOFT_DELETED");
});

test("undoing the import brings a leaver back into their class, also after the retention has soft-deleted them", async () => {
  const { school, importId } = await leaveOne();
  const cemId = (await personOf(school, "3")).id;
  await keepFor(school, 0);
  clock.forwardSeconds(60);
  await job.run(signal);
  expect((await personOf(school, "3")).status).toBe("SOFT_DELETED");
  expect((await undo(importId)).state).toBe("UNDONE");
  expect(await personOf(school, "3")).toMatchObject({ id: cemId, status: "ACTIVE", leftAt: null, purgeAt: null });
  expect(await classesOf(school, "3")).toEqual(["5b"]);
  clock.forwardSeconds(2 * 86_400);
  await job.run(signal);
  expect((await personOf(school, "3")).status).toBe("ACTIVE");
});

test("undoing an import that named a leaver again lets them go on leaving from the same day", async () => {
  const { school } = await leaveOne();
  const { leftAt } = await personOf(school, "3");
  const before = await readDirectory(db);
  clock.forwardSeconds(60);
  const { id } = await run(all, { school });
  await undo(id);
  expect(await personOf(school, "3")).toMatchObject({ status: "ACTIVE", leftAt });
  expect(await readDirectory(db)).toEqual(before);
});

test("what staff did to a leaver since is not undone", async () => {
  const [kept, gone] = [await leaveOne(), await leaveOne()];
  clock.forwardSeconds(60);
  const change = { at: clock(), actorId: "test" };
  const idOf = async ({ school }: typeof kept) => (await personOf(school, "3")).id as PersonId;
  const [keptId, goneId] = [await idOf(kept), await idOf(gone)];
  await changeDirectory(db, change, (made) => restorePerson(made, { personId: keptId }));
  await changeDirectory(db, change, (made) => softDeletePerson(made, { personId: goneId, restoreWindowDays: 30 }));
  for (const { importId } of [kept, gone])
    await expect(undo(importId)).rejects.toMatchObject({ code: "undo_not_confirmed" });
  expect([(await personOf(kept.school, "3")).status, (await personOf(gone.school, "3")).status]).toEqual([
    "ACTIVE",
    "SOFT_DELETED",
  ]);
});

test("a roster does not soft-delete who is exempt, until the exemption ends", async () => {
  clock.set(start);
  const school = await make.school();
  await run(all, { school });
  const personId = (await personOf(school, "3")).id as PersonId;
  await withPrismaTransaction(db, (tx) =>
    putExemption(tx, personId, { until: new Date("2026-03-01T00:00:00Z"), reason: "Examination." }, { at: start }),
  );
  clock.forwardSeconds(60);
  await run(header + ada + bo, { school });
  expect(await personOf(school, "3")).toMatchObject({ status: "ACTIVE", leftAt: clock() });
  clock.set("2026-02-28T00:00:00Z");
  await job.run(signal);
  expect((await personOf(school, "3")).status).toBe("ACTIVE");
  clock.set("2026-03-02T00:00:00Z");
  await job.run(signal);
  expect((await personOf(school, "3")).status).toBe("SOFT_DELETED");
});
