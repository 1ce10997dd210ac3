import { expect, test } from "vitest";
import { changeDirectory, makePurgeJob } from "../../src/access/index.ts";
import { restorePerson, softDeletePerson } from "../../src/directory/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { askFor, getUserTokens, giveLogin } from "../support/token.ts";
import { countWaiting } from "../support/waiting.ts";

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
  expect(await db.prisma.audit.findMany({ where: { at: clock(), action: "person_deleted" } })).toMatchObject([
    { actorId: "purge", personId: null, schoolId: school },
  ]);
});

test("nothing that signs a person in or tells who they were is left in any table", async () => {
  clock.set(start);
  const app = await make.app();
  const group = await make.group({ school });
  await make.grant({ app: app.clientId, school, groups: [group] });
  const name = { firstFull: "Zacharias Quirin", firstCall: "Zacharias", last: "Unverwechselbar" };
  const personId = await make.person({ school, groups: [group], name, sourceSystemIdentifier: "source-unmistakable" });
  const login = await giveLogin(db, personId);
  await getUserTokens(service, app, login, {
    scopes: ["openid", "offline_access", "people:read"],
    browser: makeBrowser(service.url),
  });
  // Sign-ons that wait for an answer when the person goes: hints of every kind with nobody signed in, and one with the
  // person.
  const { id_token: idToken, browser: own } = await getUserTokens(service, app, login, {
    scopes: ["openid", "profile"],
  });
  const hints = [{ login_hint: login.username }, { login_hint: personId }, { id_token_hint: idToken! }];
  const waiting = () => db.prisma.oidcArtifact.count({ where: { kind: "Interaction" } });
  for (const params of hints) await makeBrowser(service.url).open(askFor(service, app, { params }).address);
  await own.open(askFor(service, app, { params: { prompt: "consent" } }).address);
  expect(await waiting()).toBe(4);
  const { rows: open } = await db.pool.query<{ text: string }>(
    "SELECT payload::text AS text FROM oidc_artifact WHERE kind = 'Interaction' AND person_id IS NULL",
  );
  expect(
    open.map(({ text }) =>
      ["Unverwechselbar", login.username, personId, idToken!].filter((word) => text.includes(word)),
    ),
  ).toEqual([[], [], []]);
  expect(await db.prisma.oidcArtifact.count({ where: { personId } })).toBeGreaterThan(2);
  await softDelete(personId);
  clock.forwardSeconds(30 * day);
  await job.run(signal);
  const { rows: tables } = await db.pool.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  expect(await waiting()).toBe(3);
  const traces: string[] = [];
  for (const table of tables) {
    const { rowCount } = await db.pool.query(`SELECT FROM ${table.name} AS t WHERE t::text LIKE '%' || $1 || '%'`, [
      personId,
    ]);
    if (rowCount !== 0) traces.push(table.name);
    const words = await db.pool.query(`SELECT FROM ${table.name} AS t WHERE t::text ~ $1`, [
      `Unverwechselbar|source-unmistakable|${login.username}`,
    ]);
    expect(words.rowCount, table.name).toBe(0);
  }
  expect(traces.sort()).toEqual(["app_event", "tombstone"]);
});

test("several processes purge the same people once, and a person who cannot be deleted keeps no other from it", async () => {
  clock.set(start);
  const people = await Promise.all(Array.from({ length: 12 }, () => make.person({ school })));
  for (const id of people) await softDelete(id);
  clock.forwardSeconds(31 * day);
  const stuck = people[3]!;
  const forget = async (_tx: unknown, personId: PersonId) => {
    if (personId === stuck) throw new Error("cannot be forgotten");
  };
  const jobs = [1, 2, 3].map(() => makePurgeJob({ db, clock, forget, batchSize: 5 }));
  const runs = await Promise.allSettled(jobs.map((each) => each.run(signal)));
  for (const run of runs)
    expect(run).toMatchObject({ status: "rejected", reason: { message: "1 person could not be deleted for good" } });
  expect(await db.prisma.person.findMany({ where: { id: { in: people } }, select: { id: true } })).toEqual([
    { id: stuck },
  ]);
  expect(await db.prisma.audit.count({ where: { at: clock(), action: "person_deleted" } })).toBe(11);
  expect(
    await db.prisma.audit.findMany({
      where: { personId: { in: people } },
      distinct: ["personId"],
      select: { personId: true },
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
  await expect.poll(() => countWaiting(db)).toBe(1);
  purgeWaits.resolve(null);
  await Promise.all([restore, purge]);
  expect(await db.prisma.person.findUnique({ where: { id: personId } })).toMatchObject({ status: "ACTIVE" });
});
