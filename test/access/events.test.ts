import { expect, test } from "vitest";
import { changeDirectory, recordFirstSignIn, setSignOn, withdrawGrant } from "../../src/access/index.ts";
import type { ClientId } from "../../src/access/index.ts";
import { deleteGroup, renameGroup } from "../../src/directory/index.ts";
import type { Change } from "../../src/directory/index.ts";
import { appEventChannel, sequenceEvents, sweepEvents } from "../../src/events/index.ts";
import { testDatabase } from "../support/database.ts";
import { interceptStatements } from "../support/intercept.ts";
import { makeMakers } from "../support/make.ts";
import { asOthers } from "../support/one-connection.ts";

const db = await testDatabase();
const make = makeMakers(db);
const now = new Date("2026-02-03T08:00:00Z");
const change = <T>(work: (it: Change) => Promise<T>): Promise<T> =>
  changeDirectory(db, { at: now, actorId: "test" }, work);

type Row = { type: string; action: string; subject_id: string; updated_properties: string[]; reason: string | null };
const told = async (client: ClientId): Promise<Row[]> =>
  (
    await db.pool.query<Row>(
      "SELECT type, action, subject_id, updated_properties, reason FROM app_event WHERE client_id = $1 ORDER BY seq",
      [client],
    )
  ).rows;
const forget = () => db.pool.query("DELETE FROM app_event");

/** A school that syncs one group to an app, with a person in it; events so far are forgotten. */
async function makeSynced() {
  const school = await make.school();
  const { clientId } = await make.app();
  const group = await make.group({ school });
  const person = await make.person({ school, groups: [group] });
  await make.grant({ app: clientId, school, groups: [group] });
  await forget();
  return { school, clientId, group, person };
}

test("a group that is deleted is told of, and so is each of its members, once", async () => {
  const { school, clientId, group, person } = await makeSynced();
  await change((it) => setSignOn(it, { clientId, schoolId: school, signOn: { kind: "NOBODY" } }));
  await change((it) => deleteGroup(it, { groupId: group }));
  expect(await told(clientId)).toEqual([
    { type: "person", action: "delete", subject_id: person, updated_properties: [], reason: "no_longer_synced" },
    { type: "group", action: "delete", subject_id: group, updated_properties: ["status"], reason: "deleted" },
  ]);
});

test("a long change stands in nobody's way to sign in for the first time", async () => {
  const { school, clientId } = await makeSynced();
  const stranger = await make.person({ school });
  await change(async (it) => {
    await it.touchSchool(school);
    await asOthers(() => make.signIn({ app: clientId, person: stranger }));
  });
  expect((await db.pool.query("SELECT FROM sign_in WHERE person_id = $1", [stranger])).rowCount).toBe(1);
});

test("a first sign-in waits for a change that has told what it did, and tells what that leaves to tell", async () => {
  const { school, clientId, person } = await makeSynced();
  let signingIn = Promise.resolve();
  const { promise: tried, resolve: noteTry } = Promise.withResolvers<undefined>();
  const trying = interceptStatements(db, async (text) => {
    if (text === "COMMIT") noteTry(undefined);
  });
  const beforeCommit = async () => {
    signingIn = asOthers(() => recordFirstSignIn(trying, { clientId, personId: person, at: now }));
    await tried;
  };
  await changeDirectory(holdingCommit(beforeCommit), { at: now, actorId: "test" }, (it) =>
    withdrawGrant(it, { clientId, schoolId: school }),
  );
  await signingIn;
  const ofPerson = (await told(clientId)).filter(({ type }) => type === "person").map(({ action }) => action);
  expect(ofPerson).toEqual(["delete", "create"]);
});

/** The database, with something that happens when all is written and nothing committed. */
const holdingCommit = (beforeCommit: () => Promise<void>) =>
  interceptStatements(db, async (text) => {
    if (text === "COMMIT") await beforeCommit();
  });

test("events get their places after the commit, so that one that was late is not passed by", async () => {
  const { school } = await makeSynced();
  const slow = await db.pool.connect();
  await slow.query("BEGIN");
  await slow.query(insertEvent);
  await make.person({ school });
  expect(await sequenceEvents(db)).toBeGreaterThan(0);
  const { rows: before } = await db.pool.query<{ last: string }>("SELECT last_position AS last FROM event_feed");
  await slow.query("COMMIT");
  slow.release();
  await sequenceEvents(db);
  const { rows } = await db.pool.query<{ position: string }>("SELECT position FROM app_event WHERE client_id = 'slow'");
  expect(Number(rows[0]!.position)).toBe(Number(before[0]!.last) + 1);
});

const insertEvent = `
  INSERT INTO app_event (id, at, client_id, type, action, subject_id, updated_properties)
  VALUES (gen_random_uuid(), now(), 'slow', 'person', 'create', gen_random_uuid(), '{}')`;

test("any number of processes give places at the same time, each place once and without a gap", async () => {
  await forget();
  for (let count = 0; count < 200; count++) await db.pool.query(insertEvent);
  const placed = await Promise.all([1, 2, 3, 4].map(() => sequenceEvents(db, 7)));
  expect(placed.reduce((sum, each) => sum + each, 0)).toBe(200);
  const { rows } = await db.pool.query(
    `SELECT count(DISTINCT position)::int AS places, (max(position) - min(position))::int AS span,
       max(position) = (SELECT last_position FROM event_feed) AS "isLast" FROM app_event`,
  );
  expect(rows).toEqual([{ places: 200, span: 199, isLast: true }]);
});

test("old events are swept, oldest first, and the feed knows up to where", async () => {
  await forget();
  for (const at of ["2026-01-01", "2026-01-02", "2026-02-01"])
    await db.pool.query(insertEvent.replace("now()", `'${at}'`));
  await sequenceEvents(db);
  const signal = new AbortController().signal;
  expect(await sweepEvents(db, new Date("2026-01-15"), { signal: AbortSignal.abort(), batch: 1 })).toBe(0);
  expect(await sweepEvents(db, new Date("2026-01-15"), { signal, batch: 1 })).toBe(2);
  const { rows } = await db.pool.query(
    `SELECT count(*)::int AS left, (SELECT last_position - swept_position FROM event_feed)::int AS kept FROM app_event`,
  );
  expect(rows).toEqual([{ left: 1, kept: 1 }]);
});

test("listeners are notified when events commit, and not by changes that say nothing", async () => {
  const { school, group } = await makeSynced();
  const unseen = await make.group({ school });
  const listener = await db.pool.connect();
  const told: (string | undefined)[] = [];
  const { promise: isLast, resolve } = Promise.withResolvers<undefined>();
  listener.on("notification", ({ payload }) => {
    told.push(payload);
    if (payload === "last") resolve(undefined);
  });
  await listener.query(`LISTEN ${appEventChannel}`);
  await change((it) => renameGroup(it, { groupId: unseen, name: "Other" }));
  await db.pool.query(`NOTIFY ${appEventChannel}, 'first'`);
  await change((it) => deleteGroup(it, { groupId: group }));
  await db.pool.query(`NOTIFY ${appEventChannel}, 'last'`);
  await isLast;
  expect(told).toEqual(["first", "", "last"]);
  listener.release(true);
});
