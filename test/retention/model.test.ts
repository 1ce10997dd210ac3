// @module-tag model
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  acknowledgeErasure,
  askingApps,
  changeDirectory,
  makePurgeJob,
  type ClientId,
} from "../../src/access/index.ts";
import { forgetPerson } from "../../src/accounts/index.ts";
import {
  deletePerson,
  restorePerson,
  softDeletePerson,
  type Change,
  type PersonId,
  type SchoolId,
} from "../../src/directory/index.ts";
import { addDays } from "../../src/platform/clock.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { makeRetentionJob, putPolicy } from "../../src/retention/index.ts";
import { followEvents } from "../access/events-receiver.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeCommands } from "../support/model-commands.ts";
import { anyFault, makeFaults, type Fault } from "../support/nth-fault.ts";
import { fillTablesOfDeleted, fillTablesOfPeople } from "../support/people-everywhere.ts";
import { makeTestClock, type TestClock } from "../support/service.ts";
import { findTraces } from "../support/traces.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";
import { retentionRules } from "./rules.ts";

// People are soft-deleted by staff and by the retention, restored, and deleted for good by staff and by the purge, and
// connections are lost at any of the statements. Everybody is wholly there or wholly gone, a step that is repeated
// succeeds, each app is told and asked to erase once, and nobody else changes.

const db = await testDatabase();
const make = makeMakers(db);
const faults = makeFaults(db.pool);
const { signal } = new AbortController();
const rules = { ...retentionRules, noticeDays: 0, hold: { people: 1000, share: 1 } };
const restoreWindowDays = rules.defaults.restoreDays;
const keptMonths = 1;
/** Where the id of somebody who is gone stays on purpose, and never a name. */
const kept = ["app_event", "erasure", "tombstone"];

type Person = { id: PersonId; status: "ACTIVE" | "SOFT_DELETED" | "GONE"; purgeAt: Date | null; leftAt: Date | null };
type Model = { people: Person[]; erased: number };
type World = {
  school: SchoolId;
  group: string;
  clients: ClientId[];
  checkTold: () => Promise<void>;
  clock: TestClock;
};

const confirms = { confirmsErasures: true };

/** The first two people have a row in every table; an app syncs them, another one only signs people in. */
async function makeWorld(): Promise<{ model: Model; real: World }> {
  const clock = makeTestClock();
  const school = await make.school();
  const group = await make.group({ school });
  const [synced, signedIn, stranger] = [
    await make.app({ subjectType: "APP", ...confirms }),
    await make.app(confirms),
    await make.app(confirms),
  ];
  const ids = await make.people({ school, groups: [group], count: 4 });
  await make.grant({ app: synced.clientId, school, groups: [group] });
  await make.grant({ app: signedIn.clientId, school, sync: false });
  await fillTablesOfPeople(db, ids.slice(0, 2), { school, app: signedIn.clientId, at: clock() });
  await withPrismaTransaction(db, (tx) => {
    const leftMonths = { value: keptMonths, reason: "School law.", from: "LEAVING" as const };
    const policy = { leftMonths, inactiveMonths: null, restoreDays: null, auditDays: null };
    return putPolicy(tx, { subject: { schoolId: school }, policy, rules }, { at: clock() });
  });
  const clients = [synced.clientId, signedIn.clientId, stranger.clientId];
  const checkTold = await followEvents(db.pool, clients);
  const people = ids.toSorted().map((id) => ({ id, status: "ACTIVE" as const, purgeAt: null, leftAt: null }));
  return { model: { people, erased: 0 }, real: { school, group, clients, checkTold, clock } };
}

async function isLost(fault: Fault | null, work: () => Promise<unknown>): Promise<boolean> {
  return (await faults.during(fault, work)).error !== undefined;
}

const count = async (text: string, values: unknown[]) =>
  (await db.pool.query<{ count: number }>(`SELECT count(*)::int AS count ${text}`, values)).rows[0]!.count;

/** What holds after every command. */
async function check({ people, erased }: Model, { school, group, clients, checkTold }: World) {
  const found = await db.prisma.person.findMany({
    where: { homeSchoolId: school },
    select: { id: true, status: true, purgeAt: true, leftAt: true, affiliations: { select: { memberships: true } } },
    orderBy: { id: "asc" },
  });
  expect(found.map(({ affiliations: _, ...person }) => person)).toEqual(people.filter(isThere));
  for (const { affiliations } of found)
    expect(affiliations).toMatchObject([{ memberships: [{ groupId: group, role: "STUDENT" }] }]);

  const gone = people.filter(({ status }) => status === "GONE").map(({ id }) => id);
  await checkTold();
  const ended = "FROM app_event WHERE subject_id = ANY ($1) AND action = 'delete' AND updated_properties = '{}'";
  expect(await count(`${ended} AND reason = 'deleted' AND erasure_id IS NOT NULL`, [gone])).toBe(2 * gone.length);
  expect(await count(ended, [people.map(({ id }) => id)])).toBe(2 * gone.length);
  const ofApps = "FROM erasure WHERE client_id = ANY ($1) AND cause = 'deleted'";
  expect(await count(ofApps, [clients])).toBe(2 * gone.length);
  expect(await count(`${ofApps} AND state = 'erased'`, [clients])).toBe(erased);
  expect(await count("FROM tombstone WHERE person_id = ANY ($1)", [gone])).toBe(gone.length);
  const deleted = { action: "person_deleted", schoolId: school };
  expect(await db.prisma.audit.count({ where: { ...deleted, personId: null } })).toBe(gone.length);
  expect(await db.prisma.audit.count({ where: deleted })).toBe(gone.length);
}

/** The rows of all tables in which each of the people is, by table. */
async function findRowsOf(people: readonly PersonId[]): Promise<Map<PersonId, Record<string, string[]>>> {
  const traces = Object.entries(await findTraces(db, people));
  const rowsOf = (id: PersonId) =>
    traces.map(([table, rows]) => [table, rows.filter((one) => one.includes(id))] as const);
  const entries = people.map((id) => [id, rowsOf(id).filter(([, rows]) => rows.length > 0)] as const);
  return new Map(entries.map(([id, rows]) => [id, Object.fromEntries(rows)]));
}

const isThere = ({ status }: Person) => status !== "GONE";

/** Expects that those who go during the work are gone from all tables, and that nobody else's rows change. */
async function whileOthersStay({ people }: Model, work: () => Promise<unknown>): Promise<void> {
  const ids = people.filter(isThere).map(({ id }) => id);
  const before = await findRowsOf(ids);
  await work();
  const after = await findRowsOf(ids);
  for (const { id, status } of people.filter((person) => ids.includes(person.id)))
    if (status === "GONE") expect([id, Object.keys(after.get(id)!)]).toEqual([id, kept]);
    else expect(after.get(id)).toEqual(before.get(id));
}

const command = makeCommands(check);

type Row = { status: string; leftAt: Date | null } | null;
type Step = {
  work: (change: Change, personId: PersonId) => Promise<unknown>;
  /** The code with which it is refused. */
  refusal: string | undefined;
  isDone: (row: Row) => boolean;
};

/** A change by hand, which is done again if it was lost; returns whether it was done. */
async function take({ id, status }: Person, { work, refusal, isDone }: Step, fault: Fault | null, at: Date) {
  const once = () => changeDirectory(db, { at, actorId: "staff" }, (change) => work(change, id));
  const code = status === "GONE" ? "person_not_found" : refusal;
  if (code !== undefined) {
    await expect(once()).rejects.toMatchObject({ code });
    return false;
  }
  const lost = await isLost(fault, once);
  if (lost && !isDone(await db.prisma.person.findUnique({ where: { id } }))) await once();
  return true;
}

const wrongStatus = (isWrong: boolean) => (isWrong ? "person_wrong_status" : undefined);

const softDelete = (which: number, fault: Fault | null) =>
  command("softDelete", [which, fault], async ({ people }, { clock }) => {
    const person = people[which]!;
    const step: Step = {
      work: (change, personId) => softDeletePerson(change, { personId, restoreWindowDays }),
      refusal: wrongStatus(person.status !== "ACTIVE"),
      isDone: (row) => row!.status === "SOFT_DELETED",
    };
    if (await take(person, step, fault, clock()))
      Object.assign(person, { status: "SOFT_DELETED", purgeAt: addDays(clock(), restoreWindowDays), leftAt: null });
  });

const restore = (which: number, fault: Fault | null) =>
  command("restore", [which, fault], async ({ people }, { clock }) => {
    const person = people[which]!;
    const isOver = person.purgeAt !== null && person.purgeAt <= clock();
    const step: Step = {
      work: (change, personId) => restorePerson(change, { personId }),
      refusal: isOver ? "restore_window_over" : wrongStatus(person.status === "ACTIVE" && person.leftAt === null),
      isDone: (row) => row!.status === "ACTIVE" && row!.leftAt === null,
    };
    if (await take(person, step, fault, clock()))
      Object.assign(person, { status: "ACTIVE", purgeAt: null, leftAt: null });
  });

const erase = (which: number, fault: Fault | null) =>
  command("delete", [which, fault], async (model, { clock }) => {
    const person = model.people[which]!;
    const step: Step = {
      work: (change, personId) => deletePerson(change, { personId, forget: askingApps(forgetPerson) }),
      refusal: wrongStatus(person.status !== "SOFT_DELETED"),
      isDone: (row) => row === null,
    };
    await whileOthersStay(model, async () => {
      if (await take(person, step, fault, clock())) person.status = "GONE";
    });
  });

const purge = (fault: Fault | null) =>
  command("purge", [fault], async (model, { clock, clients, school }) => {
    const due = model.people.filter(({ status, purgeAt }) => status === "SOFT_DELETED" && purgeAt! <= clock());
    const run = () => makePurgeJob({ db, clock, forget: forgetPerson, batchSize: 2 }).run(signal);
    await fillTablesOfDeleted(
      db,
      due.map(({ id }) => id),
      { school, app: clients[1]!, at: clock() },
    );
    await whileOthersStay(model, async () => {
      if (await isLost(fault, run)) {
        for (const rows of (await findRowsOf(due.map(({ id }) => id))).values()) {
          const tables = Object.keys(rows);
          if (tables.includes("person")) expect(tables).not.toContain("tombstone");
          else expect(tables).toEqual(kept);
        }
        await run();
      }
      for (const person of due) person.status = "GONE";
    });
  });

const leave = (which: number) =>
  command("leave", [which], async ({ people }, { clock }) => {
    const person = people[which]!;
    if (person.status !== "ACTIVE") return;
    person.leftAt = clock();
    await db.prisma.person.update({ where: { id: person.id }, data: { leftAt: clock() } });
  });

const retain = (fault: Fault | null) =>
  command("retain", [fault], async ({ people }, { clock, school }) => {
    const isDue = ({ status, leftAt }: Person) =>
      status === "ACTIVE" && leftAt !== null && addDays(leftAt, 31 * keptMonths) <= clock();
    const run = async () => {
      // The school is free again when the time of a process that died is over.
      await db.prisma.retentionCheck.updateMany({ where: { schoolId: school }, data: { checkAt: clock() } });
      await makeRetentionJob({ db, clock, rules, batchSize: 2 }).run(signal);
    };
    if (await isLost(fault, run)) await run();
    for (const person of people.filter(isDue))
      Object.assign(person, { status: "SOFT_DELETED", purgeAt: addDays(clock(), restoreWindowDays) });
  });

const confirm = (which: number, fault: Fault | null) =>
  command("confirm", [which, fault], async (model, { clients, clock }) => {
    const where = { clientId: { in: clients }, cause: "deleted", state: "open" } as const;
    const open = await db.prisma.erasure.findMany({ where, orderBy: { id: "asc" } });
    if (open.length === 0) return;
    const { id, clientId } = open[which % open.length]!;
    const given = { id, clientId: clientId as ClientId, state: "erased", reason: null } as const;
    const once = () => acknowledgeErasure(db, given, { at: clock(), actorId: clientId });
    if (await isLost(fault, once)) await once();
    await once();
    model.erased += 1;
    const lines = { action: "erasure_acknowledged", detail: { path: ["erasureId"], equals: id } };
    expect(await db.prisma.audit.count({ where: lines })).toBe(1);
  });

const pass = (days: number) => command("pass", [days], async (_, { clock }) => clock.forwardSeconds(days * 86_400));

const which = fc.nat(3);
const fault = anyFault(40);

test(
  "everybody is there or gone as a whole, and told of once, whatever connection is lost on the way",
  async () => {
    const one = fc.tuple(which, fault);
    const commands = fc.commands(
      [
        one.map((given) => softDelete(...given)),
        one.map((given) => softDelete(...given)),
        one.map((given) => restore(...given)),
        one.map((given) => erase(...given)),
        one.map((given) => confirm(...given)),
        which.map(leave),
        fault.map(retain),
        fault.map(purge),
        fault.map(purge),
        fc.constantFrom(1, 29, 31).map(pass),
      ],
      { maxCommands: 16 },
    );
    await fc.assert(
      fc.asyncProperty(commands, async (given) => {
        const world = await makeWorld();
        await fc.asyncModelRun(() => world, given);
      }),
      walks(4, 1),
    );
  },
  walkTimeoutMs,
);
