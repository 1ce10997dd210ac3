import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { joinSchool, restorePerson, type Change, type PersonId, type SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  listRetentionHolds,
  makeRetentionJob,
  putExemption,
  putPolicy,
  releaseRetention,
  type RetentionPolicy,
} from "../../src/retention/index.ts";
import { giveRole } from "../../src/staff/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeTestClock } from "../support/service.ts";
import { blockPerson } from "../support/sign-ins.ts";
import { giveLogin } from "../support/token.ts";
import { untilWaiting } from "../support/waiting.ts";
import { retentionRules as rules } from "./rules.ts";

const start = new Date("2026-02-03T08:00:00Z");
const db = await testDatabase();
const make = makeMakers(db);
const clock = makeTestClock(start);
const job = makeRetentionJob({ db, clock, rules, batchSize: 3 });
const signal = new AbortController().signal;
const none: RetentionPolicy = { leftMonths: null, inactiveMonths: null, restoreDays: null, auditDays: null };
const reason = "Agreed with the data protection officer.";
const leftAfter = (value: number, from: "LEAVING" | "SCHOOL_YEAR_END" = "LEAVING") => ({ value, reason, from });
const inactiveAfter = (value: number, includesRoster = false) => ({ value, reason, includesRoster });

const set = (subject: { schoolId: SchoolId } | { state: string }, policy: Partial<RetentionPolicy>, noticeDays = 0) =>
  withPrismaTransaction(db, (tx) =>
    putPolicy(tx, { subject, policy: { ...none, ...policy }, rules: { ...rules, noticeDays } }, { at: clock() }),
  );
/** Runs the job on a day. */
async function runAt(at: string): Promise<void> {
  clock.set(at);
  await job.run(signal);
}
const leave = (ids: readonly PersonId[], leftAt: string) =>
  db.prisma.person.updateMany({ where: { id: { in: [...ids] } }, data: { leftAt: new Date(leftAt) } });
const checkNow = (schoolId: SchoolId) =>
  db.prisma.retentionCheck.upsert({
    where: { schoolId },
    create: { schoolId, checkAt: start },
    update: { checkAt: start },
  });
const statusOf = async (id: PersonId) => (await db.prisma.person.findUniqueOrThrow({ where: { id } })).status;
const softDeletedAt = async (id: PersonId) =>
  (await db.prisma.person.findUniqueOrThrow({ where: { id } })).softDeletedAt?.toISOString().slice(0, 10) ?? null;
const signInAt = async (id: PersonId, at: string) => {
  const { clientId } = await make.app();
  await db.prisma.signIn.create({
    data: { clientId, personId: id, firstSignInAt: new Date(at), lastSignInAt: new Date(at) },
  });
};

test("the school's value wins over the state's, and that over the service's, each on the day when its months are over", async () => {
  clock.set(start);
  const state = { country: "DE", state: "RP" };
  const places = {
    own: await make.school({ location: state }),
    ofState: await make.school({ location: state }),
    elsewhere: await make.school({ location: { country: "DE", state: "SH" } }),
    yearEnd: await make.school(),
  };
  await set({ state: "DE-RP" }, { leftMonths: leftAfter(3) });
  await set({ schoolId: places.own }, { leftMonths: leftAfter(1) });
  await set({ schoolId: places.yearEnd }, { leftMonths: leftAfter(2, "SCHOOL_YEAR_END") });
  const people: Record<string, PersonId> = {};
  for (const [name, school] of Object.entries(places)) people[name] = await make.person({ school });
  await leave(Object.values(people), "2026-02-10T10:00:00Z");
  for (const school of Object.values(places)) await checkNow(school);
  const found: Record<string, string> = {};
  // The day on which the months of each are over, and the one before.
  const days = ["02-09", "02-10", "03-09", "03-10", "05-09", "05-10", "09-30", "10-01"].map((day) => `2026-${day}`);
  for (const day of days) {
    await runAt(`${day}T12:00:00Z`);
    for (const [name, id] of Object.entries(people)) if ((await statusOf(id)) === "SOFT_DELETED") found[name] ??= day;
  }
  expect(found).toEqual({
    elsewhere: "2026-02-10",
    own: "2026-03-10",
    ofState: "2026-05-10",
    yearEnd: "2026-10-01",
  });
  const ofPeople = { action: "person_soft_deleted", personId: { in: Object.values(people) } } as const;
  const lines = await db.prisma.audit.findMany({ where: ofPeople, orderBy: { id: "asc" } });
  expect(lines).toHaveLength(4);
  expect(lines[0]).toMatchObject({ actorId: "retention", detail: { reason: "retention", cause: "LEFT" } });
});

test("apps are told, and the person can be restored for the days that the school chose", async () => {
  clock.set(start);
  const [school, app] = [await make.school(), await make.app()];
  const group = await make.group({ school });
  await make.grant({ app: app.clientId, school, groups: [group] });
  const person = await make.person({ school, groups: [group] });
  await set({ schoolId: school }, { restoreDays: { value: 60, reason } });
  await leave([person], "2026-02-01T00:00:00Z");
  await runAt("2026-02-04T00:00:00Z");
  expect(await db.prisma.person.findUniqueOrThrow({ where: { id: person } })).toMatchObject({
    status: "SOFT_DELETED",
    purgeAt: new Date("2026-04-05T00:00:00Z"),
  });
  expect(await db.prisma.appEvent.findFirst({ where: { subjectId: person, action: "delete" } })).toMatchObject({
    reason: "soft_deleted",
    updatedProperties: ["status"],
  });
  clock.set("2026-04-04T00:00:00Z");
  await changeDirectory(db, { at: clock() }, (change) => restorePerson(change, { personId: person }));
  await checkNow(school);
  await job.run(signal);
  expect(await db.prisma.person.findUniqueOrThrow({ where: { id: person } })).toMatchObject({
    status: "ACTIVE",
    leftAt: null,
  });
});

test("who does not sign in is soft-deleted, but nobody whom a roster names, who cannot sign in, or who has a role", async () => {
  clock.set(start);
  const school = await make.school();
  await set({ schoolId: school }, { inactiveMonths: inactiveAfter(6) });
  const named = (sourceSystemIdentifier: string) => make.person({ school, sourceSystemIdentifier });
  const people = {
    inactive: await make.person({ school, role: "TEACHER" }),
    never: await make.person({ school }),
    active: await make.person({ school }),
    device: await make.person({ school }),
    forgotten: await make.person({ school }),
    token: await make.person({ school }),
    withoutLogin: await make.person({ school }),
    blocked: await make.person({ school }),
    onRoster: await named("r-1"),
    offRoster: await named("r-2"),
    admin: await make.person({ school, role: "OTHER" }),
  };
  for (const [name, id] of Object.entries(people)) if (name !== "withoutLogin") await giveLogin(db, id);
  await signInAt(people.inactive, "2026-03-01T00:00:00Z");
  await signInAt(people.active, "2026-08-01T00:00:00Z");
  const used = { lastUsedAt: new Date("2026-08-02T00:00:00Z") };
  await db.prisma.knownDevice.create({ data: { personId: people.device, device: new Uint8Array(32), ...used } });
  await db.prisma.credential.update({
    where: { personId: people.forgotten },
    data: { hasSignedIn: true, forgottenSignInAt: used.lastUsedAt },
  });
  const artifact = { kind: "RefreshToken", idHash: new Uint8Array(32), payload: {}, personId: people.token };
  await db.prisma.oidcArtifact.create({ data: { ...artifact, expiresAt: new Date("2026-09-15T00:00:00Z") } });
  await blockPerson(db, people.blocked, { at: start });
  await withPrismaTransaction(db, (tx) =>
    giveRole(
      tx,
      { holder: { personId: people.admin }, role: "SECRETARY", schoolIds: [school], clientIds: [] },
      { giver: null, origin: { at: start } },
    ),
  );
  await leave([people.offRoster], "2026-08-15T00:00:00Z");
  await set({ schoolId: school }, { inactiveMonths: inactiveAfter(6), leftMonths: leftAfter(12) });
  const gone = async () => {
    const found: Record<string, string> = {};
    for (const [name, id] of Object.entries(people)) found[name] = (await softDeletedAt(id)) ?? "";
    return Object.fromEntries(Object.entries(found).filter(([, at]) => at !== ""));
  };
  await runAt("2026-08-03T07:59:00Z");
  expect(await gone()).toEqual({});
  await runAt("2026-08-04T08:00:00Z");
  expect(await gone()).toEqual({ never: "2026-08-04", offRoster: "2026-08-04" });
  await runAt("2026-09-02T08:00:00Z");
  expect(await gone()).toEqual({ never: "2026-08-04", offRoster: "2026-08-04", inactive: "2026-09-02" });
  await runAt("2026-09-16T08:00:00Z");
  expect(Object.keys(await gone())).toEqual(["inactive", "never", "token", "offRoster"]);
  await set({ schoolId: school }, { inactiveMonths: inactiveAfter(6, true) });
  await runAt("2026-10-01T08:00:00Z");
  expect(Object.keys(await gone())).toEqual(["inactive", "never", "token", "onRoster", "offRoster"]);
  // Brought back: the months begin again.
  await changeDirectory(db, { at: clock() }, (change) => restorePerson(change, { personId: people.onRoster }));
  await runAt("2026-10-05T08:00:00Z");
  expect(await statusOf(people.onRoster)).toBe("ACTIVE");
});

test("the home school's policy decides of a guest, and who left and is at another school stays", async () => {
  clock.set(start);
  const [strict, lax] = [await make.school(), await make.school()];
  await set({ schoolId: strict }, { inactiveMonths: inactiveAfter(6) });
  const [home, guest] = [await make.person({ schools: [strict, lax] }), await make.person({ schools: [lax, strict] })];
  for (const id of [home, guest]) await giveLogin(db, id);
  const left = await make.person({ schools: [strict, lax] });
  await leave([left], "2026-02-03T08:00:00Z");
  await runAt("2026-09-01T08:00:00Z");
  expect([await statusOf(home), await statusOf(guest), await statusOf(left)]).toEqual([
    "SOFT_DELETED",
    "ACTIVE",
    "ACTIVE",
  ]);
  const joining = await make.person({ school: strict });
  await leave([joining], "2026-09-01T08:00:00Z");
  await changeDirectory(db, { at: clock() }, (change) => joinSchool(change, { personId: joining, schoolId: lax }));
  expect(
    await db.prisma.person.findUniqueOrThrow({ where: { id: joining }, include: { affiliations: true } }),
  ).toMatchObject({ homeSchoolId: lax, leftAt: null, affiliations: [{ schoolId: lax }] });
});

test("a changed policy soft-deletes nobody during its notice, and an exemption nobody until its end", async () => {
  clock.set(start);
  const school = await make.school();
  const [kept, other] = [await make.person({ school }), await make.person({ school })];
  await leave([kept, other], "2025-01-01T00:00:00Z");
  await set({ schoolId: school }, { leftMonths: leftAfter(6) }, 14);
  await withPrismaTransaction(db, (tx) =>
    putExemption(
      tx,
      kept,
      { until: new Date("2026-03-01T00:00:00Z"), reason: "Repeats an examination." },
      { at: start },
    ),
  );
  await runAt("2026-02-17T07:59:00Z");
  expect([await statusOf(kept), await statusOf(other)]).toEqual(["ACTIVE", "ACTIVE"]);
  await runAt("2026-02-18T08:00:00Z");
  expect([await statusOf(kept), await statusOf(other)]).toEqual(["ACTIVE", "SOFT_DELETED"]);
  await runAt("2026-02-28T23:59:00Z");
  expect(await statusOf(kept)).toBe("ACTIVE");
  await runAt("2026-03-02T00:00:00Z");
  expect(await statusOf(kept)).toBe("SOFT_DELETED");
});

test("several processes soft-delete each person once", async () => {
  clock.set(start);
  const school = await make.school();
  const people = await make.people({ school, groups: [], count: 5 });
  await make.people({ school, groups: [], count: 30 });
  await leave(people, "2026-01-01T00:00:00Z");
  await checkNow(school);
  const jobs = [1, 2, 3].map(() => makeRetentionJob({ db, clock, rules, batchSize: 2 }));
  await Promise.all(jobs.map((each) => each.run(signal)));
  const where = { action: "person_soft_deleted", personId: { in: people } };
  expect(await db.prisma.audit.count({ where })).toBe(5);
});

test("a run that would soft-delete unusually many waits until staff release just so many, or change the policy", async () => {
  clock.set(start);
  const school = await make.school();
  await make.people({ school, groups: [], count: 12 });
  const people = await make.people({ school, groups: [], count: 6 });
  await leave(people, "2026-01-01T00:00:00Z");
  await checkNow(school);
  const active = () => db.prisma.person.count({ where: { id: { in: people }, status: "ACTIVE" } });
  const releaseFor = (count: number) =>
    withPrismaTransaction(db, (tx) => releaseRetention(tx, { schoolId: school, people: count }, { at: clock() }));
  await runAt("2026-02-04T08:00:00Z");
  await runAt("2026-02-06T08:00:00Z");
  expect(await active()).toBe(6);
  const hold = { schoolId: school, heldAt: new Date("2026-02-04T08:00:00Z"), people: 6 };
  expect(await listRetentionHolds(db, [school])).toMatchObject([hold]);
  expect(await db.prisma.audit.count({ where: { schoolId: school, action: "retention_held" } })).toBe(1);
  await expect(releaseFor(5)).rejects.toMatchObject({ code: "retention_not_confirmed" });
  // A policy that keeps them longer ends the hold; the way back begins it again.
  await set({ schoolId: school }, { leftMonths: leftAfter(24) });
  await runAt("2026-02-06T09:00:00Z");
  expect(await listRetentionHolds(db, [school])).toEqual([]);
  await expect(releaseFor(6)).rejects.toMatchObject({ code: "retention_not_held" });
  await set({ schoolId: school }, { leftMonths: leftAfter(0) });
  await runAt("2026-02-07T08:00:00Z");
  await releaseFor(6);
  // One more than was released.
  const late = await make.person({ school });
  await leave([late], "2026-01-01T00:00:00Z");
  await runAt("2026-02-07T09:00:00Z");
  expect([await active(), (await listRetentionHolds(db, [school]))[0]?.people]).toEqual([6, 7]);
  await releaseFor(7);
  await runAt("2026-02-07T10:00:00Z");
  expect([await active(), await statusOf(late)]).toEqual([0, "SOFT_DELETED"]);
});

test.each([
  ["comes back", (personId: PersonId) => (change: Change) => restorePerson(change, { personId })],
  [
    "is exempt",
    (personId: PersonId) => async (change: Change) => {
      await change.touch({ people: [personId] });
      const exemption = { until: new Date("2027-01-01T00:00:00Z"), reason: "Examination." };
      await putExemption(change.tx, personId, exemption, { at: change.now });
    },
  ],
] as const)("a person who %s between being listed and being soft-deleted stays", async (_what, makeWork) => {
  clock.set(start);
  const school = await make.school();
  const personId = await make.person({ school });
  await leave([personId], "2026-01-01T00:00:00Z");
  await checkNow(school);
  const [done, jobWaits] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  const work = makeWork(personId);
  const other = changeDirectory(db, { at: clock() }, async (change) => {
    await work(change);
    done.resolve(null);
    await jobWaits.promise;
  });
  await done.promise;
  // Not committed: the job lists the person and waits for the change that holds them.
  const running = job.run(signal);
  await untilWaiting(db);
  jobWaits.resolve(null);
  await Promise.all([other, running]);
  expect(await statusOf(personId)).toBe("ACTIVE");
});
