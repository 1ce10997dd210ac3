// @module-tag model
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  callOffIdMove,
  changeDirectory,
  cutOverIdMove,
  findIdMove,
  startIdMove,
  type ClientId,
} from "../../src/access/index.ts";
import {
  addMembership,
  createPerson,
  removeMembership,
  restorePerson,
  softDeletePerson,
  type Change,
  type GroupId,
  type PersonId,
  type SchoolId,
} from "../../src/directory/index.ts";
import { withPrismaTransaction, type Transaction } from "../../src/platform/database/db.ts";
import { AppError } from "../../src/platform/errors.ts";
import { getReader, idm, type Reader } from "../support/api.ts";
import { makeMakers } from "../support/make.ts";
import { anyFault, makeFaults, type Fault } from "../support/nth-fault.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";

// Whatever happens to people and to the move, and wherever the process loses its connection or dies: the app sees
// everybody, by an id that changes at the cut-over alone, and was told of the new one.

const clock = makeTestClock();
const service = await startService({ clock });
const make = makeMakers(service.db, clock());
const own = service.shares.jobs;
const faults = makeFaults(own.pool);
const moveIds = service.jobs.find(({ name }) => name === "access.moveIds")!;

/** What the app knows. */
type Model = {
  /** By which id it knows each person it ever saw; by name. */
  known: Map<string, string>;
  /** Who gets a new id at the cut-over: everybody known when the move began to announce them. */
  moving: Set<string>;
  /** The new id of each old one, as the app read them. */
  newIds: Map<string, string>;
  state: string;
  cursor: string;
};
type World = { clientId: ClientId; read: Reader; school: SchoolId; group: GroupId; people: number };

const select = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  (await service.db.pool.query<Row>(text, values)).rows;

async function makeWorld(): Promise<{ model: Model; real: World }> {
  const app = await make.app();
  const school = await make.school();
  const group = await make.group({ school });
  await make.grant({ app: app.clientId, school, groups: [group] });
  await make.grant({ app: app.clientId, school: await make.school(), groups: [] });
  const real = { clientId: app.clientId, read: await getReader(service, app), school, group, people: 0 };
  const model = { known: new Map(), moving: new Set<string>(), newIds: new Map(), state: "NONE", cursor: "" };
  return { model, real };
}

const origin = () => ({ at: clock(), actorId: "test" });
const inChange =
  (work: (change: Change, world: World, nth: number) => Promise<unknown>) =>
  (world: World, nth: number): Promise<unknown> =>
    changeDirectory(own, origin(), (change) => work(change, world, nth));
const inMove =
  (work: (tx: Transaction, clientId: ClientId) => Promise<unknown>) =>
  ({ clientId }: World): Promise<unknown> =>
    withPrismaTransaction(own, (tx) => work(tx, clientId));

const create = inChange(async (change, world) => {
  const name = { firstFull: "Kim", firstCall: "Kim", last: `Name ${++world.people}` };
  const personId = await createPerson(change, { role: "STUDENT", name, schools: [world.school] });
  await addMembership(change, { groupId: world.group, personId });
});
/** The nth person whom the app ever saw. */
const ofPerson = (work: (change: Change, person: { personId: PersonId }, world: World) => Promise<unknown>) =>
  inChange(async (change, world, nth) => {
    const people = await select<{ personId: PersonId }>(
      'SELECT id AS "personId" FROM person WHERE home_school_id = $1 ORDER BY id',
      world.school,
    );
    if (people.length > 0) await work(change, people[nth % people.length]!, world);
  });
const work = () => moveIds.run(new AbortController().signal);

const verbs = {
  create,
  leave: ofPerson((change, { personId }, { group }) => removeMembership(change, { groupId: group, personId })),
  return: ofPerson((change, { personId }, { group }) => addMembership(change, { groupId: group, personId })),
  softDelete: ofPerson((change, person) => softDeletePerson(change, { ...person, restoreWindowDays: 30 })),
  restore: ofPerson((change, person) => restorePerson(change, person)),
  start: inMove((tx, clientId) => startIdMove(tx, { clientId, subjectType: "APP", cutOverAt: null }, origin())),
  callOff: inMove((tx, clientId) => callOffIdMove(tx, clientId, origin())),
  cutOver: inMove((tx, clientId) => cutOverIdMove(tx, clientId, origin())),
  work,
  /** Ends once all have, also those that go on when one fails. */
  async meet(world: World) {
    const outcomes = await Promise.allSettled([work(), work(), create(world, 0), create(world, 0)]);
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  },
};

/** What is asked for may not be possible now. */
const refusable = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
  });

type Step = { verb: keyof typeof verbs; nth: number; fault: Fault | null };
type Command = fc.AsyncCommand<Model, World>;

const commandOf = ({ verb, nth, fault }: Step): Command => ({
  check: ({ state }) => verb !== "start" || state === "NONE",
  async run(model, world) {
    if (verb === "start") model.cursor = (await readFeed(world)).next;
    const { isHit } = await faults.during(fault, () => refusable(verbs[verb](world, nth)));
    // The lease of a process that died has ended when another takes over.
    if (isHit) clock.forwardSeconds(61);
    await look(model, world, verb === "meet");
    if (verb === "work" && !isHit) expect(["PREPARING", "CALLED_OFF"]).not.toContain(model.state);
  },
  toString: () => `${verb} ${nth} ${fc.stringify(fault)}`,
});

type Event = { personId: string; oldPersonId?: string; newPersonId?: string };
async function readFeed({ read }: World, after?: string): Promise<{ next: string; changes: Event[] }> {
  const { body } = await read(`${idm}/changes${after === undefined ? "" : `?after=${after}`}`);
  return body as { next: string; changes: Event[] };
}

type Move = { state: string; isAnnounced: boolean };

/** What must hold whenever the app looks. */
async function look(model: Model, world: World, isLate: boolean): Promise<void> {
  const { clientId, read, school } = world;
  const [move = { state: "NONE", isAnnounced: false }] = await select<Move>(
    'SELECT state, is_announced AS "isAnnounced" FROM id_move WHERE client_id = $1',
    clientId,
  );
  if (move.state === "CUT_OVER" && model.state !== "CUT_OVER") cutOver(model);
  const people = await select<{ id: string; last: string; isSeen: boolean }>(
    `SELECT p.id, last, status = 'ACTIVE' AND m IS NOT NULL AS "isSeen" FROM person p
     LEFT JOIN membership m ON person_id = p.id AND group_id = $2 WHERE home_school_id = $1`,
    school,
    world.group,
  );
  const listed = (await read(`${idm}/schools/${school}/people`)).body as { id: string; name: { last: string } }[];
  const shown = new Map(listed.map(({ id, name }) => [name.last, id]));
  expect([...shown.keys()].toSorted()).toEqual(
    people
      .filter(({ isSeen }) => isSeen)
      .map(({ last }) => last)
      .toSorted(),
  );
  const recordIds = new Map(people.map(({ id, last }) => [last, id]));
  const newcomers = [...shown.keys()].filter((name) => !model.known.has(name));
  const isShared = (name: string) => shown.get(name) === recordIds.get(name);
  if (!isLate && move.state !== "CALLED_OFF")
    expect(newcomers.map(isShared)).toEqual(newcomers.map(() => ["NONE", "PREPARING"].includes(move.state)));
  for (const [name, id] of shown) expect([name, model.known.get(name) ?? id]).toEqual([name, id]);
  const before = [...model.known.keys()];
  for (const [name, id] of shown) model.known.set(name, id);
  expect(new Set(model.known.values()).size).toBe(model.known.size);

  if (move.state === "RUNNING") {
    if (model.state !== "RUNNING") model.moving = new Set([...before, ...newcomers.filter(isShared)]);
    await checkAnnounced(model, world, { isComplete: move.isAnnounced, shown });
  } else if (move.state === "NONE") {
    expect((await read(`${idm}/identifier-changes`)).body).toEqual([]);
    model.newIds.clear();
    model.moving.clear();
    if (model.cursor !== "") expect(await listAnnounced(model, world)).toEqual([]);
  }
  model.state = move.state;
}

const listAnnounced = async ({ cursor }: Model, world: World): Promise<Event[]> =>
  (await readFeed(world, cursor)).changes.filter(({ newPersonId }) => newPersonId !== undefined);

type Changed = { oldId: string; newId: string; inUse: string };

/** The list has everybody who moves; each is announced once, those who are seen at the latest when all are. */
async function checkAnnounced(
  model: Model,
  world: World,
  { isComplete, shown }: { isComplete: boolean; shown: Map<string, string> },
): Promise<void> {
  const { known, moving } = model;
  const changed = (await world.read(`${idm}/identifier-changes`)).body as Changed[];
  expect(changed.map(({ oldId }) => oldId).toSorted()).toEqual([...moving].map((name) => known.get(name)!).toSorted());
  expect(changed.filter(({ inUse }) => inUse !== "OLD")).toEqual([]);
  for (const { oldId, newId } of changed) {
    expect(model.newIds.get(oldId) ?? newId).toBe(newId);
    model.newIds.set(oldId, newId);
  }
  const announced = await listAnnounced(model, world);
  const oldIds = announced.map(({ oldPersonId }) => oldPersonId);
  expect(new Set(oldIds).size).toBe(oldIds.length);
  expect(announced.filter(({ oldPersonId, newPersonId }) => model.newIds.get(oldPersonId!) !== newPersonId)).toEqual(
    [],
  );
  if (!isComplete) return;
  const seen = [...shown].filter(([name]) => moving.has(name)).map(([, id]) => id);
  expect(oldIds).toEqual(expect.arrayContaining(seen));
}

/** From here on the app knows everybody by their new id, which is new to all. */
function cutOver(model: Model): void {
  const old = new Set(model.known.values());
  for (const [name, id] of model.known) {
    expect([name, model.newIds.has(id)]).toEqual([name, model.moving.has(name)]);
    model.known.set(name, model.newIds.get(id) ?? id);
  }
  expect([...model.newIds.values()].filter((id) => old.has(id))).toEqual([]);
}

const fault = anyFault();
const step = (verb: Step["verb"]) =>
  fc.record({ verb: fc.constant(verb), nth: fc.nat({ max: 9 }), fault }).map(commandOf);
const commands = [
  ...(["create", "create", "leave", "return", "softDelete", "restore"] as const),
  ...(["start", "start", "callOff", "cutOver", "work", "work", "work", "work", "meet"] as const),
].map(step);

test(
  "whatever fails during a move, nobody is lost, each id is kept until the cut-over and each new one is announced once",
  { timeout: walkTimeoutMs },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 16, size: "max" }), async (made) => {
        const { model, real } = await makeWorld();
        for (let n = 0; n < 3; n++) await create(real, 0);
        await look(model, real, false);
        await fc.asyncModelRun(() => ({ model, real }), made);
        await commandOf({ verb: "work", nth: 0, fault: null }).run(model, real);
        if (model.state !== "RUNNING") return;
        expect(await findIdMove(service.db, real.clientId)).toMatchObject({ isAnnounced: true });
        await commandOf({ verb: "cutOver", nth: 0, fault: null }).run(model, real);
        expect(model.state).toBe("CUT_OVER");
      }),
      walks(6, 1),
    );
  },
);
