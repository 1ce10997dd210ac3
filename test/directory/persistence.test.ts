import { expect, test } from "vitest";
import {
  changeDirectory,
  createApp,
  deleteApp,
  endOldSecret,
  findGrant,
  listAppsByName,
  listGrants,
  rotateClientSecret,
  setGrant,
  setSignOn,
  setSync,
  setSyncedGroups,
  updateApp,
  withdrawGrant,
} from "../../src/access/index.ts";
import {
  addMembership,
  createGroup,
  createPerson,
  createSchool,
  deleteGroup,
  deletePerson,
  findGroup,
  findPerson,
  findSchool,
  joinSchool,
  leaveSchool,
  listGroups,
  listPeople,
  listSchools,
  movePerson,
  purgePerson,
  removeMembership,
  renameGroup,
  restoreGroup,
  restorePerson,
  setHomeSchool,
  setMembershipRole,
  softDeletePerson,
  updatePerson,
  updateSchool,
} from "../../src/directory/index.ts";
import type { Change, SchoolId } from "../../src/directory/index.ts";
import {
  storeOf,
  withPrismaTransaction,
  type PrismaDb,
  type Store,
  type Transaction,
} from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { asOthers } from "../support/one-connection.ts";

const db = await testDatabase();
const make = makeMakers(db);
const origin = { at: new Date("2026-03-01T10:00:00Z"), actorId: "test" };
const inApp = { ...origin, allowLoopbackHttp: true };

const [school, second, third] = [await make.school(), await make.school(), await make.school()];
const { clientId } = await make.app();
const [group, other] = [await make.group({ school }), await make.group({ school })];
const deletedGroup = await make.group({ school, status: "DELETED" });
const person = await make.person({ schools: [school, second], groups: [group] });
const deleted = await make.person({ school, status: "SOFT_DELETED" });
await make.grant({ app: clientId, school, sync: false });

type Operations = string[];

/** Prisma Client that notes which operations it is asked for and refuses them, or only those that write. */
function refusing(asked: Operations, isRefused: (operation: string) => boolean): PrismaDb {
  const model = (records: object, name: string) =>
    new Proxy(Reflect.get(records, name) as object, {
      get(target, operation: string): unknown {
        asked.push(`${name}.${operation}`);
        if (isRefused(operation)) throw new Error(`refused ${name}.${operation}`);
        return Reflect.get(target, operation);
      },
    });
  const records = <Whole extends object>(whole: Whole): Whole =>
    new Proxy(whole, {
      get(target, name: string): unknown {
        if (name === "$transaction") {
          return (work: (inner: object) => Promise<unknown>) => db.prisma.$transaction((inner) => work(records(inner)));
        }
        return name.startsWith("$") ? Reflect.get(target, name) : model(target, name);
      },
    });
  return { pool: db.pool, prisma: records(db.prisma) };
}

const isWrite = (operation: string): boolean => /^(create|update|upsert|delete)/.test(operation);
const address = { address: "Street 1", addressAddition: null, city: "Town", zipCode: "10115" };
const newSchool = {
  name: "S",
  officialId: "O-1",
  address,
  location: { country: "DE", state: "NI" },
  schoolingLevel: null,
};
const name = { firstFull: "Ada", firstCall: "Ada", last: "Neu" };
const key = { clientId, schoolId: school };
const forget = () => Promise.resolve();

const changes: Record<string, (change: Change) => Promise<unknown>> = {
  createSchool: (it) => createSchool(it, newSchool),
  updateSchool: (it) => updateSchool(it, { schoolId: school, name: "Other" }),
  createPerson: (it) => createPerson(it, { schools: [school], role: "STUDENT", name: null }),
  updatePerson: (it) => updatePerson(it, { personId: person, name }),
  softDeletePerson: (it) => softDeletePerson(it, { personId: person, restoreWindowDays: 30 }),
  restorePerson: (it) => restorePerson(it, { personId: deleted }),
  deletePerson: (it) => deletePerson(it, { personId: deleted, forget }),
  purgePerson: (it) => purgePerson({ ...it, now: new Date("2027-01-01T00:00:00Z") }, { personId: deleted, forget }),
  joinSchool: (it) => joinSchool(it, { personId: person, schoolId: third }),
  leaveSchool: (it) => leaveSchool(it, { personId: person, schoolId: second }),
  setHomeSchool: (it) => setHomeSchool(it, { personId: person, schoolId: second }),
  movePerson: (it) => movePerson(it, { personId: person, to: third }),
  createGroup: (it) => createGroup(it, { schoolId: school, name: "5a", type: "KLASSE" }),
  renameGroup: (it) => renameGroup(it, { groupId: group, name: "Other" }),
  deleteGroup: (it) => deleteGroup(it, { groupId: group }),
  restoreGroup: (it) => restoreGroup(it, { groupId: deletedGroup }),
  addMembership: (it) => addMembership(it, { groupId: other, personId: person }),
  removeMembership: (it) => removeMembership(it, { groupId: group, personId: person }),
  setMembershipRole: (it) => setMembershipRole(it, { groupId: group, personId: person, role: "TEACHER" }),
  setGrant: (it) => setGrant(it, { ...key, signOn: { kind: "NOBODY" }, sync: true, syncedGroups: [group] }),
  setSignOn: (it) => setSignOn(it, { ...key, signOn: { kind: "GROUPS", groups: [group] } }),
  setSync: (it) => setSync(it, { ...key, sync: true }),
  setSyncedGroups: (it) => setSyncedGroups(it, { ...key, groups: [group] }),
  withdrawGrant: (it) => withdrawGrant(it, key),
};

const registrations: Record<string, (tx: Transaction) => Promise<unknown>> = {
  createApp: (tx) => createApp(tx, { name: "App", type: "PUBLIC", scopes: [], redirectUris: [] }, inApp),
  updateApp: (tx) => updateApp(tx, { clientId, name: "Other" }, inApp),
  rotateClientSecret: (tx) => rotateClientSecret(tx, { clientId, keepOldSeconds: 60 }, origin),
  endOldSecret: (tx) => endOldSecret(tx, clientId, origin),
};

const reads: Record<string, (store: Store) => Promise<unknown>> = {
  findSchool: (store) => findSchool(store, school),
  findPerson: (store) => findPerson(store, person),
  findGroup: (store) => findGroup(store, group),
  listSchools: (store) => listSchools(store, { limit: 1 }),
  listPeople: (store) => listPeople(store, { schoolId: school, limit: 1 }),
  listGroups: (store) => listGroups(store, { schoolId: school, withDeleted: true, limit: 1 }),
  listAppsByName: (store) => listAppsByName(store, { limit: 1 }),
  findGrant: (store) => findGrant(store, key),
  listGrants: (store) => listGrants(store, { limit: 1 }),
};

async function countRows(): Promise<unknown[]> {
  const { rows: tables } = await db.pool.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
  );
  const all: unknown[] = [];
  for (const table of tables) {
    const { rows } = await db.pool.query<Record<string, unknown>>(
      `SELECT '${table.name}', count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM ${table.name} t`,
    );
    all.push(...rows);
  }
  return all;
}

/** The error of work that must fail, without what it is about. */
const errorOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (error: unknown) => (error as Error).message.replace(/^refused \w+\.(find|create|update|upsert|delete)\w*$/, "$1"),
  );

test("every change, registration and read goes through Prisma Client, and nothing is written where it fails", async () => {
  const before = await countRows();
  const failed: Record<string, string> = {};
  for (const [name, work] of Object.entries(changes)) {
    const asked: Operations = [];
    failed[name] = await errorOf(changeDirectory(refusing(asked, isWrite), origin, work));
    expect([name, isWrite(asked.at(-1)!.split(".")[1]!)]).toEqual([name, true]);
  }
  for (const [name, work] of Object.entries(registrations))
    failed[name] = await errorOf(withPrismaTransaction(refusing([], isWrite), work));
  failed["deleteApp"] = await errorOf(deleteApp(refusing([], isWrite), clientId, { origin, forget }));
  expect(Object.entries(failed).filter(([, error]) => !/^(create|update|upsert|delete)$/.test(error))).toEqual([]);
  expect(await countRows()).toEqual(before);
  for (const [name, read] of Object.entries(reads)) {
    expect([name, await errorOf(read(storeOf(refusing([], () => true))))]).toEqual([name, "find"]);
    await read(storeOf(db));
  }
});

const rename = (it: Change, id: SchoolId, to: string) =>
  it.tx.prisma.school.update({ where: { id }, data: { name: to } });

test("changes that meet in a deadlock within Prisma Client are run again", async () => {
  const [left, right] = [await make.school(), await make.school()];
  let attempts = 0;
  const both = Promise.withResolvers<null>();
  const runs: Promise<void>[] = [];
  const run = (first: SchoolId, then: SchoolId, to: string) =>
    changeDirectory(db, origin, async (it) => {
      attempts += 1;
      // The row of the one that failed is free; the other takes it first.
      if (attempts > 2) await Promise.race(runs);
      await rename(it, first, to);
      if (attempts === 2) both.resolve(null);
      await both.promise;
      await rename(it, then, to);
    });
  runs.push(run(left, right, "one"), run(right, left, "other"));
  await Promise.all(runs);
  expect(attempts).toBe(3);
  const names = await db.prisma.school.findMany({ where: { id: { in: [left, right] } }, select: { name: true } });
  expect(new Set(names.map((row) => row.name)).size).toBe(1);
});

test("a change whose write through Prisma Client waits too long for a lock is refused as busy", async () => {
  const busy = await make.school();
  await changeDirectory(db, origin, async (it) => {
    await rename(it, busy, "held");
    const waiting = asOthers(() =>
      changeDirectory(db, origin, async (late) => {
        await late.tx.query("SET LOCAL lock_timeout = '50ms'");
        await rename(late, busy, "late");
      }),
    );
    await expect(waiting).rejects.toMatchObject({ kind: "unavailable", code: "school_busy" });
  });
});
