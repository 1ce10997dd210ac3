// @module-tag slow
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { changeDirectory, type ClientId } from "../../src/access/index.ts";
import { softDeletePerson, type PersonId } from "../../src/directory/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { fillTablesOfPeople, fillTablesOfDeleted } from "../support/people-everywhere.ts";
import { startProgram } from "../support/program.ts";
import { findTraces, listTablesOfPeople } from "../support/traces.ts";
import { countAround, whileHeld } from "../support/waiting.ts";

const db = await testDatabase();
const make = makeMakers(db);
const kills = 6;
const start = new Date("2026-02-03T08:00:00Z");
const later = (days: number): Date => new Date(start.getTime() + days * 86_400_000);
const now = later(31);
/** What is kept on purpose of somebody who is gone: ids and times, and never a name. */
const kept = {
  app_event: "apps read in the change feed that the person is gone",
  erasure: "an app that knows them by this id must erase their data, and has not confirmed it",
  tombstone: "the id and the date of the deletion, which the contract answers with",
};

const softDelete = (people: readonly PersonId[], at: Date) =>
  changeDirectory(db, { at }, async (change) => {
    for (const personId of people) await softDeletePerson(change, { personId, restoreWindowDays: 30 });
  });

type Progress = { left: number; credentials: number; tombstones: number; told: number; asked: number };

/** How far the purge is, as one statement sees it. */
async function readProgress(due: readonly PersonId[]): Promise<Progress> {
  const { rows } = await db.pool.query<Progress>(
    `SELECT (SELECT count(*)::int FROM person WHERE id = ANY ($1)) AS left, (SELECT count(*)::int FROM credential WHERE person_id = ANY ($1)) AS credentials,
       (SELECT count(*)::int FROM tombstone) AS tombstones, (SELECT count(*)::int / 2 FROM erasure WHERE cause = 'deleted') AS asked, (SELECT count(DISTINCT subject_id)::int FROM app_event WHERE at = $2) AS told`,
    [due, now],
  );
  return rows[0]!;
}

test(`kill -9 ${kills} times in the middle of the purge: whoever is due is gone for good, each app is told and asked to erase once, which delays nothing, and nobody else is touched`, async () => {
  const [synced, signedIn, stranger] = (
    await Promise.all([
      make.app({ subjectType: "APP", confirmsErasures: true }),
      make.app({ confirmsErasures: true }),
      make.app({ confirmsErasures: true }),
    ])
  ).map(({ clientId }) => clientId) as [ClientId, ClientId, ClientId];
  const school = await make.school();
  const groups = [await make.group({ school })];
  await make.grant({ app: signedIn, school, sync: false });
  await make.grant({ app: stranger, school: await make.school() });
  const due = await make.people({ school, groups, count: 100 });
  const others = await make.people({ school, groups, count: 3 });
  await make.grant({ app: synced, school, groups });
  const places = { school, app: signedIn, at: start };
  for (const people of [due, others]) await fillTablesOfPeople(db, people, places);
  await softDelete(due, start);
  // Two are within their restore window, the third was never deleted.
  await softDelete(others.slice(0, 2), later(10));
  await fillTablesOfDeleted(db, [...due, ...others], places);
  const untouched = await findTraces(db, others);
  const tables = (await listTablesOfPeople(db)).filter((table) => !(table in kept));
  expect(Object.keys(await findTraces(db, due))).toEqual(expect.arrayContaining(tables));

  const run = () => startProgram(["test/faults/purge-subject.ts"], { SUBJECT: JSON.stringify({ url: db.url, now }) });
  for (let kill = 0; kill < kills; kill++) {
    const before = await readProgress(due);
    await whileHeld(db, { people: due, status: "SOFT_DELETED" }, async () => {
      const { child, ended } = run();
      await expect
        .poll(async () => (await readProgress(due)).left, { interval: 2 })
        .toBeLessThanOrEqual(before.left - 5);
      // Each time a little further into the next transaction.
      await sleep(kill);
      child.kill("SIGKILL");
      expect((await ended).signal).toBe("SIGKILL");
    });
    await expect.poll(() => countAround(db)).toBe(0);
    const { left, ...progress } = await readProgress(due);
    const gone = due.length - left;
    expect(progress).toEqual({ credentials: left, tombstones: gone, told: gone, asked: gone });
  }
  expect((await readProgress(due)).left).toBeGreaterThan(0);
  expect((await run().ended).code).toBe(0);

  expect(Object.keys(await findTraces(db, due))).toEqual(Object.keys(kept));
  expect((await readProgress(due)).tombstones).toBe(due.length);
  const { rows: told } = await db.pool.query<{ text: string }>(
    "SELECT concat_ws(' ', client_id, subject_id, type, action, reason, updated_properties::text) AS text FROM app_event WHERE at = $1",
    [now],
  );
  const gone = [synced, signedIn].flatMap((app) => due.map((person) => `${app} ${person} person delete deleted {}`));
  expect(told.map(({ text }) => text).toSorted()).toEqual(gone.toSorted());
  const { rows: asked } = await db.pool.query<{ text: string }>(
    "SELECT concat_ws(' ', e.client_id, coalesce(a.subject_id, e.subject_id), e.school_id, e.state, a.erasure_id = e.id) AS text FROM erasure e JOIN app_event a ON a.erasure_id = e.id",
  );
  expect(asked.map(({ text }) => text).toSorted()).toEqual(
    [synced, signedIn].flatMap((app) => due.map((person) => `${app} ${person} ${school} open t`)).toSorted(),
  );
  expect(await db.prisma.audit.count({ where: { action: "person_deleted", personId: null } })).toBe(due.length);
  expect(await findTraces(db, others)).toEqual(untouched);
});
