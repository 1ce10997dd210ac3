import { expect, test } from "vitest";
import { changeDirectory, makePurgeJob } from "../../src/access/index.ts";
import { restorePerson, softDeletePerson } from "../../src/directory/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { makeMakers } from "../support/make.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { untilWaiting } from "../support/waiting.ts";

const start = "2026-02-03T08:00:00Z";
const day = 86_400;
const clock = makeTestClock(start);
const service = await startService({ clock });
const { db } = service;
const make = makeMakers(db);
const school = await make.school();
const signal = new AbortController().signal;
const job = service.jobs.find(({ name }) => name === "directory.purgePeople")!;

const softDelete = (personId: PersonId) =>
  changeDirectory(db, { at: clock(), actorId: "operator" }, (change) =>
    softDeletePerson(change, { personId, restoreWindowDays: 30 }),
  );
const exists = async (id: PersonId) => (await db.prisma.person.count({ where: { id } })) === 1;

test("the purge comes by itself when the restore window is over, and not before", async () => {
  clock.set(start);
  const [gone, restored, active] = [
    await make.person({ school }),
    await make.person({ school }),
    await make.person({ school }),
  ];
  for (const id of [gone, restored]) await softDelete(id);
  clock.forwardSeconds(30 * day - 1);
  await job.run(signal);
  expect(await exists(gone)).toBe(true);
  await changeDirectory(db, { at: clock() }, (change) => restorePerson(change, { personId: restored }));
  clock.forwardSeconds(1);
  await job.run(signal);
  expect([await exists(gone), await exists(restored), await exists(active)]).toEqual([false, true, true]);
  expect(await db.prisma.tombstone.findUnique({ where: { personId: gone }, omit: { personId: true } })).toEqual({
    deletedAt: clock(),
  });
  expect(
    await db.prisma.audit.findMany({ where: { at: clock(), action: "person_deleted" }, orderBy: { id: "asc" } }),
  ).toMatchObject([{ actorId: "purge", personId: null, schoolId: school }]);
});

test("several processes purge the same people once, and a person who cannot be deleted keeps no other from it", async () => {
  clock.set(start);
  const people = await Promise.all(Array.from({ length: 7 }, () => make.person({ school })));
  for (const id of people) await softDelete(id);
  clock.forwardSeconds(31 * day);
  const stuck = people[3]!;
  const forget = async (_tx: unknown, personId: PersonId) => {
    if (personId === stuck) throw new Error("cannot be forgotten");
  };
  const jobs = [1, 2, 3].map(() => makePurgeJob({ db, clock, forget, batchSize: 3 }));
  const runs = await Promise.allSettled(jobs.map((each) => each.run(signal)));
  for (const run of runs)
    expect(run).toMatchObject({ status: "rejected", reason: { message: "1 person could not be deleted for good" } });
  expect(await db.prisma.person.findMany({ where: { id: { in: people } }, select: { id: true } })).toEqual([
    { id: stuck },
  ]);
  expect(await db.prisma.audit.count({ where: { at: clock(), action: "person_deleted" } })).toBe(6);
  expect(
    await db.prisma.audit.findMany({
      where: { personId: { in: people } },
      distinct: ["personId"],
      select: { personId: true },
      orderBy: { id: "asc" },
    }),
  ).toEqual([{ personId: stuck }]);
  await job.run(signal);
  expect(await exists(stuck)).toBe(false);
});

test("a person who is restored between being listed and being deleted stays", async () => {
  clock.set(start);
  const personId = await make.person({ school, status: "SOFT_DELETED" });
  const late = () => new Date("2026-04-01T00:00:00Z");
  const hurried = makePurgeJob({ db, clock: late, forget: async () => {} });
  const [restored, purgeWaits] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  const restore = changeDirectory(db, { at: clock() }, async (change) => {
    await restorePerson(change, { personId });
    restored.resolve(null);
    await purgeWaits.promise;
  });
  await restored.promise;
  // The restored row is not committed: the purge lists the person as deleted and waits for the change that holds them.
  const purge = hurried.run(signal);
  await untilWaiting(db);
  purgeWaits.resolve(null);
  await Promise.all([restore, purge]);
  expect(await db.prisma.person.findUnique({ where: { id: personId } })).toMatchObject({ status: "ACTIVE" });
});
