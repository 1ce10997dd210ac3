import { once } from "node:events";
import { expect, test } from "vitest";
import { changeDirectory, makePurgeJob, recordFirstSignIn, type ClientId } from "../../src/access/index.ts";
import { createPerson, leaveSchool, setHomeSchool, updatePerson, type PersonId } from "../../src/directory/index.ts";
import { openDatabase, withTransaction } from "../../src/platform/database/db.ts";
import { rememberSchool } from "../../src/sign-on/protocol/consent.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { asOthers, refuseSecondConnections } from "../support/one-connection.ts";
import { startService } from "../support/service.ts";
import { getUserTokens, giveLogin } from "../support/token.ts";
import { applyImport, makeImportSweep, type ImportId } from "../../src/imports/index.ts";
import { sampleImport } from "../support/import-samples.ts";
import { makeImporter, now, origin, rules } from "../imports/rosters.ts";
import { untilImportWaits, waitWithoutEnd } from "../support/waiting.ts";

// Connections are few, and whoever holds one while waiting for another, or for a lock, takes them from everybody else.
const service = await startService();
const { db } = service;
const make = makeMakers(db);

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

const least = openDatabase({ url: db.url, poolSize: 1 });
atFileEnd(() => least.close());
waitWithoutEnd(least.pool);
const { run, preview } = makeImporter(least);
const header = "id;role;first_name;last_name;classes\n";
const row = (n: number) => `${n};student;Ada;Muster;5a\n`;
const rows = (...ids: number[]) => header + ids.map(row).join("");

/** Stops an import in the middle of its school until the work is done. */
async function inTheMiddle(importId: string, work: () => Promise<void>): Promise<void> {
  const blocker = await db.pool.connect();
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM import_school WHERE import_id = $1 FOR UPDATE", [importId]);
  try {
    await untilImportWaits(db);
    await work();
  } finally {
    await blocker.query("ROLLBACK");
    blocker.release();
  }
}

/** Applies an import whose school has changed since its preview: it is shown again first. */
async function applyShownAgain(importId: ImportId): Promise<void> {
  await expect(applyImport(db, importId, rules, origin)).rejects.toMatchObject({ code: "import_changed" });
  expect((await applyImport(db, importId, rules, origin)).state).toBe("APPLIED");
}

test("with a pool of one connection imports are previewed, held, shown, applied and swept", async () => {
  const school = await make.school();
  await run(rows(1, 2, 3, 4), { school });
  expect((await preview(rows(1), { school })).state).toBe("HELD");
  const waiting = await preview(rows(1, 2, 3, 4, 5), { school });
  expect([...(await sampleImport(least, waiting.id, now)).values()].flat()).toHaveLength(1);
  expect((await run(rows(1, 2), { school })).state).toBe("APPLIED");
  await makeImportSweep({ db: least, clock: () => new Date(now.getTime() + 8 * 86_400_000) }).run(
    new AbortController().signal,
  );
  expect(await db.prisma.stagedPerson.count()).toBe(0);
});

test("an import that works on a school holds one connection, and a second one of it is refused with none", async () => {
  const school = await make.school();
  const [first, second] = [await preview(rows(1, 2, 3, 4), { school }), await preview(rows(1, 2, 3), { school })];
  const applying = applyImport(least, first.id, rules, origin);
  await inTheMiddle(first.id, async () => {
    expect([least.pool.totalCount, least.pool.waitingCount]).toEqual([1, 0]);
    for (const { id } of [first, second])
      await expect(applyImport(db, id, rules, origin)).rejects.toMatchObject({ code: "import_running" });
  });
  expect((await applying).state).toBe("APPLIED");
  await applyShownAgain(second.id);
  const { rows: locks } = await db.pool.query(
    "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  );
  expect(locks).toHaveLength(0);
});

test("an import that lost its lease between two schools ends before the next one, and its successor goes on", async () => {
  const officialIds = ["DE-LEASE-1", "DE-LEASE-2"];
  for (const officialId of officialIds) await make.school({ officialId });
  const roster = (name: string) =>
    JSON.stringify(
      officialIds.map((kennung, n) => ({
        pid: `p${n}`,
        person: { name: { vorname: name, familienname: "Test" } },
        personenkontexte: [{ organisation: { kennung }, rolle: "LERN", gruppen: [] }],
      })),
    );
  const [slow, next] = [await preview(roster("Slow")), await preview(roster("Next"))];
  // Between two schools it waits for its one connection longer than its lease lasts, and another import takes the
  // schools.
  const overtake = async (): Promise<void> => {
    const connection = await least.pool.connect();
    await db.prisma.import.update({ where: { id: slow.id }, data: { leaseUntil: new Date(0) } });
    await applyShownAgain(next.id).finally(() => connection.release());
  };
  let overtaken = Promise.resolve();
  const onProgress = ({ done }: { done: number }) => void (done === 1 && (overtaken = overtake()));
  await expect(applyImport(least, slow.id, { ...rules, onProgress }, origin)).rejects.toMatchObject({
    code: "import_running",
  });
  await overtaken;
  expect(await db.prisma.person.count({ where: { firstFull: "Next" } })).toBe(2);
  expect(await db.prisma.import.findUniqueOrThrow({ where: { id: slow.id } })).toMatchObject({
    leaseHolder: null,
    state: "READY",
  });
});
