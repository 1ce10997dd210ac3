import { once } from "node:events";
import { expect, test } from "vitest";
import { changeDirectory, makePurgeJob, recordFirstSignIn } from "../../src/access/index.ts";
import type { ClientId } from "../../src/access/index.ts";
import { createPerson, leaveSchool, setHomeSchool, updatePerson } from "../../src/directory/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { openDatabase, withTransaction } from "../../src/platform/database/db.ts";
import { rememberSchool } from "../../src/sign-on/protocol/consent.ts";
import { makeMakers } from "../support/make.ts";
import { asOthers, refuseSecondConnections } from "../support/one-connection.ts";
import { startService } from "../support/service.ts";
import { getUserTokens, giveLogin } from "../support/token.ts";

// Connections are few, and whoever holds one while waiting for another, or for a lock, takes them from everybody else.
const service = await startService();
const { db } = service;
const make = makeMakers(db);
const now = new Date("2026-02-03T08:00:00Z");
const origin = { at: now, actorId: "test" };

const actionsOf = async (client: ClientId): Promise<string[]> =>
  (
    await db.pool.query<{ action: string }>(
      "SELECT action FROM app_event WHERE client_id = $1 AND type = 'person' ORDER BY seq",
      [client],
    )
  ).rows.map(({ action }) => action);

/** An app that knows people by their sign-ins only, and people who have not signed in yet. */
async function makeStrangers(count: number) {
  const app = await make.app();
  const school = await make.school();
  await make.grant({ app: app.clientId, school, sync: false });
  return { app, clientId: app.clientId, school, people: await make.people({ school, count }) };
}

/** A pool of its own, to the same database. */
async function withPool<T>(poolSize: number, work: (own: ReturnType<typeof openDatabase>) => Promise<T>): Promise<T> {
  const own = openDatabase({ url: db.url, poolSize });
  refuseSecondConnections(own.pool);
  return work(own).finally(() => own.close());
}

test("a transaction that asks its pool for a second connection is found", async () => {
  const nested = withTransaction(db, async () => void (await db.pool.query("SELECT 1")));
  await expect(nested).rejects.toThrow("second connection");
  await expect(withTransaction(db, () => withTransaction(db, () => Promise.resolve()))).rejects.toThrow(
    "second connection",
  );
});

test("with one connection: a change, the purge, and a change that others sign in during", async () => {
  const { clientId, school, people } = await makeStrangers(2);
  const gone = await make.person({ school, status: "SOFT_DELETED" });
  await withPool(1, async (own) => {
    const created = await changeDirectory(own, origin, (it) =>
      createPerson(it, { schools: [school], role: "STUDENT", name: null }),
    );
    await recordFirstSignIn(own, { clientId, personId: created, at: now });
    await makePurgeJob({ db: own, clock: () => new Date("2027-01-01T00:00:00Z"), forget: () => Promise.resolve() }).run(
      new AbortController().signal,
    );
    await changeDirectory(own, origin, async (it) => {
      await it.touchSchool(school);
      for (const personId of people) await asOthers(() => recordFirstSignIn(db, { clientId, personId, at: now }));
    });
  });
  expect((await db.pool.query("SELECT FROM person WHERE id = $1", [gone])).rowCount).toBe(0);
  expect(await actionsOf(clientId)).toEqual(["create", "create", "create"]);
});

test("whoever a change is at work on signs in meanwhile: login, consent, code and token", async () => {
  const { app, clientId, school } = await makeStrangers(0);
  const other = await make.school();
  const pupil = await make.person({ schools: [school, other] });
  const login = await giveLogin(db, pupil);
  await changeDirectory(db, origin, async (it) => {
    await it.touchSchool(school);
    await updatePerson(it, {
      personId: pupil,
      sourceSystemIdentifier: "src-1",
      name: { firstFull: "Kim", firstCall: "Kim", last: "Neu" },
    });
    await setHomeSchool(it, { personId: pupil, schoolId: other });
    expect((await asOthers(() => getUserTokens(service, app, login))).access_token).toBeTypeOf("string");
  });
  expect(await actionsOf(clientId)).toEqual(["create", "update"]);
});

test("who chooses a school that a change takes from them does not wait for it", async () => {
  const { clientId, school } = await makeStrangers(0);
  const other = await make.school();
  const teacher = await make.person({ role: "TEACHER", schools: [school, other] });
  const chosen = async () =>
    (await db.pool.query("SELECT school_id FROM school_choice WHERE person_id = $1", [teacher])).rows;
  await changeDirectory(db, origin, async (it) => {
    await leaveSchool(it, { personId: teacher, schoolId: other });
    await asOthers(() => rememberSchool(db.pool, { clientId, personId: teacher, schoolId: other }));
  });
  expect(await chosen()).toEqual([]);
  await rememberSchool(db.pool, { clientId, personId: teacher, schoolId: school });
  expect(await chosen()).toEqual([{ school_id: school }]);
});

const lockAsCommitting = "SELECT pg_advisory_xact_lock(hashtextextended('commit ' || $1::uuid, 0))";

test("ten first sign-ins of a school whose change takes long to commit leave connections to others", async () => {
  const { clientId, school, people } = await makeStrangers(10);
  await withPool(2, async (own) => {
    const committing = await db.pool.connect();
    await committing.query("BEGIN");
    await committing.query(lockAsCommitting, [school]);
    let signedIn = 0;
    const signingIn = people.map((personId) =>
      recordFirstSignIn(own, { clientId, personId, at: now }).then(() => signedIn++),
    );
    for (let count = 0; count < 3; count++) await own.pool.query("SELECT 1");
    expect(signedIn).toBe(0);
    await committing.query("COMMIT");
    committing.release();
    await Promise.all(signingIn);
  });
  expect(await actionsOf(clientId)).toEqual(people.map(() => "create"));
});

test("a first sign-in that waits keeps no connection and no lock", async () => {
  const { clientId, school, people } = await makeStrangers(1);
  const [personId] = people as [PersonId];
  const committing = await db.pool.connect();
  await committing.query("BEGIN");
  await committing.query(lockAsCommitting, [school]);
  await withPool(1, async (own) => {
    const signingIn = recordFirstSignIn(own, { clientId, personId, at: now });
    await once(own.pool, "release");
    expect(own.pool.idleCount).toBe(1);
    // The change may be about to delete the person.
    await committing.query("SELECT FROM person WHERE id = $1 FOR UPDATE", [personId]);
    await committing.query("COMMIT");
    committing.release();
    await signingIn;
  });
  expect(await actionsOf(clientId)).toEqual(["create"]);
});
