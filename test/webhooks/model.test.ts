// @module-tag model
import fc from "fast-check";
import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { updatePerson } from "../../src/directory/index.ts";
import type { PrismaDb } from "../../src/platform/database/db.ts";
import { AppError } from "../../src/platform/errors.ts";
import { insertEvents } from "../support/app-events.ts";
import { anyFault, type Fault } from "../support/nth-fault.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";
import {
  disableEndpoint,
  pauseEndpoint,
  redeliver,
  registerEndpoint,
  removeEndpoint,
  resumeEndpoint,
} from "../support/webhook-changes.ts";
import { inside, keys } from "../support/webhooks.ts";
import { endWorld, makeWorld, newPath, runJob, settings, type CallFault, type World } from "./model-world.ts";

// Whatever happens to people, endpoints, receivers and the clock, and wherever a process loses its connection or dies:
// no event is lost, repetitions have the same webhook-id, and the events of a person arrive in order.

type Row = Record<string, unknown>;
const select = async <T extends Row>({ db }: Pick<World, "db">, text: string, ...values: unknown[]): Promise<T[]> =>
  (await db.pool.query<T>(text, values)).rows;

type Command = fc.AsyncCommand<object, World>;
/** A command whose run is followed by what must hold at any time. */
const command = <Given>(name: string, given: fc.Arbitrary<Given>, run: (world: World, given: Given) => unknown) =>
  given.map((made): Command => ({
    check: () => true,
    async run(_model, world) {
      await run(world, made);
      expect(await listStuck(world)).toEqual([]);
    },
    toString: () => `${name} ${fc.stringify(made)}`,
  }));

/** Queues that have no first delivery, or two. */
const listStuck = (world: World) =>
  select(
    world,
    `SELECT endpoint_id, subject_id FROM webhook_delivery d JOIN webhook_endpoint w ON w.id = endpoint_id
     WHERE w.client_id = $1 AND d.state = 'PENDING' GROUP BY 1, 2 HAVING count(due_at) <> 1`,
    world.clientId,
  );

const origin = ({ clock }: World) => ({ at: clock(), actorId: "test" });
const countEvents = async (world: World): Promise<number> =>
  (
    await select<{ n: number }>(world, "SELECT count(*)::int AS n FROM app_event WHERE client_id = $1", world.clientId)
  )[0]!.n;

let renamed = 0;
/** Either all events of the change are there or none. */
async function change(world: World, { people, fault }: { people: number[]; fault: Fault | null }): Promise<void> {
  const before = await countEvents(world);
  const { db, faults } = world.processes[1];
  const { isHit } = await faults.during(fault, () =>
    changeDirectory(db, origin(world), async (it) => {
      for (const n of people) {
        const name = { firstFull: "Kim", firstCall: "Kim", last: `Name ${++renamed}` };
        await updatePerson(it, { personId: world.people[n]!, name });
      }
    }),
  );
  const made = (await countEvents(world)) - before;
  expect(isHit ? [0, people.length] : [people.length]).toContain(made);
}

const events = (world: World, count: number) =>
  Array.from({ length: count }, (_, n) => ({ clientId: world.clientId, subjectId: world.people[n % 4]! }));

/** Every endpoint that is not disabled gets each new event once, whichever statement was the last of a process. */
async function fanOut(world: World, given: { process: 0 | 1; fault: Fault | null }): Promise<void> {
  await collect(world, async () => {
    await runJob(world, { ...given, job: "fanOut" });
    if (given.fault !== null) await runJob(world, { ...given, job: "fanOut", fault: null });
  });
}

const readPosition = async (world: World) =>
  (await select<{ position: string }>(world, "SELECT position FROM webhook_fan_out"))[0]!.position;

/** Notes what the work fans out, and compares it with the endpoints that there are. */
async function collect(world: World, work: () => Promise<void>, isExact = true): Promise<void> {
  const ids = world.endpoints.map(({ id }) => id);
  const [last] = await select(world, "SELECT coalesce(max(id), 0) AS id FROM webhook_delivery");
  const listening = await select<{ id: string }>(
    world,
    "SELECT id FROM webhook_endpoint WHERE id = ANY ($1) AND state <> 'DISABLED'",
    ids,
  );
  const before = await readPosition(world);
  await work();
  const after = await readPosition(world);
  const made = await select<{ id: string; endpointId: string }>(
    world,
    `SELECT message_id AS id, endpoint_id AS "endpointId" FROM webhook_delivery d JOIN app_event e ON e.id = message_id
     WHERE d.id > $1 AND endpoint_id = ANY ($2) ORDER BY e.seq`,
    last!["id"],
    ids,
  );
  const told = await select<{ id: string; position: string }>(
    world,
    "SELECT id, position FROM app_event WHERE client_id = $1 AND (position IS NULL OR position > $2) ORDER BY position",
    world.clientId,
    before,
  );
  if (isExact) {
    expect(told.filter(({ position }) => position === null || BigInt(position) > BigInt(after))).toEqual([]);
    const wanted = told.flatMap(({ id }) => listening.map((endpoint) => `${id} ${endpoint.id}`));
    expect(made.map(({ id, endpointId }) => `${id} ${endpointId}`).toSorted()).toEqual(wanted.toSorted());
  }
  world.facts.deliveries.push(...made.map((delivery) => ({ ...delivery, createdAt: world.clock() })));
}

/** Nothing is sent to an endpoint that is removed, disabled, or paused by its partner. */
async function deliver(
  world: World,
  { process, fault, callFault }: { process: 0 | 1; fault: Fault | null; callFault: CallFault | null },
): Promise<void> {
  const open = await select<{ id: string }>(
    world,
    "SELECT id FROM webhook_endpoint WHERE client_id = $1 AND state <> 'DISABLED' AND reason IS DISTINCT FROM 'asked_for'",
    world.clientId,
  );
  const openPaths = world.endpoints.filter(({ id }) => open.some((one) => one.id === id)).map(({ path }) => path);
  const before = world.facts.calls.length;
  world.callFault = process === 0 && callFault !== null ? { ...callFault } : null;
  await runJob(world, { process, job: "deliver", fault });
  expect(openPaths).toEqual(expect.arrayContaining(world.facts.calls.slice(before).map(({ path }) => path)));
}

/** What an operator asks for may be refused by what happened a moment ago. */
const refusable = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
  });

const anyEndpoint = fc.nat({ max: 9 });
type Manage = { verb: "pause" | "resume" | "disable" | "remove" | "redeliver"; endpoint: number; delivery: number };
const manageable = {
  verb: fc.constantFrom("pause", "resume", "resume", "disable", "remove", "redeliver", "redeliver"),
};
const anyManage = fc.record({
  ...manageable,
  endpoint: anyEndpoint,
  delivery: fc.nat({ max: 99 }),
}) as fc.Arbitrary<Manage>;

async function manage(world: World, db: PrismaDb, { verb, endpoint, delivery }: Manage): Promise<void> {
  const { id } = world.endpoints[endpoint % world.endpoints.length]!;
  if (verb === "redeliver") {
    const found = await select<{ id: string; messageId: string }>(
      world,
      `SELECT id, message_id AS "messageId" FROM webhook_delivery WHERE endpoint_id = $1 AND state <> 'PENDING' ORDER BY id`,
      id,
    );
    if (found.length === 0) return;
    const asked = found[delivery % found.length]!;
    world.facts.repeated.add(`${id} ${asked.messageId}`);
    await refusable(redeliver(db, asked.id, origin(world)));
    return;
  }
  const verbs = { pause: pauseEndpoint, resume: resumeEndpoint, disable: disableEndpoint, remove: removeEndpoint };
  if (verb === "remove") world.facts.removed.add(id);
  await refusable(verbs[verb](db, id, origin(world)));
}

/** A change of an endpoint whose process may lose its connection: it is made whole, or not at all. */
async function manageWithFault(world: World, { fault, ...asked }: Manage & { fault: Fault | null }): Promise<void> {
  const { db, faults } = world.processes[1];
  const { isHit } = await faults.during(fault, () => manage(world, db, asked));
  const { id } = world.endpoints[asked.endpoint % world.endpoints.length]!;
  if (!isHit || asked.verb !== "remove") return;
  const [left] = await select(world, "SELECT FROM webhook_endpoint WHERE id = $1", id);
  if (left !== undefined) world.facts.removed.delete(id);
}

async function register(world: World, { fault }: { fault: Fault | null }): Promise<void> {
  const path = newPath();
  const { db, faults } = world.processes[1];
  const endpoint = { clientId: world.clientId, url: world.receiver.url + path, eventTypes: ["person"] } as const;
  await faults.during(fault, () => registerEndpoint(db, endpoint, { origin: origin(world), keys, policy: inside }));
  const text = "SELECT id FROM webhook_endpoint WHERE client_id = $1 AND url = $2";
  const [made] = await select<{ id: string }>(world, text, world.clientId, endpoint.url);
  if (made !== undefined) world.endpoints.push({ id: made.id, path });
}

async function clean(world: World, { job, fault }: { job: "drop" | "sweep"; fault: Fault | null }): Promise<void> {
  if (job === "sweep") world.facts.sweptAt.push(world.clock());
  await runJob(world, { process: 1, job, fault });
  if (fault !== null || job === "sweep") return;
  const text = `SELECT FROM webhook_delivery d JOIN webhook_endpoint w ON w.id = endpoint_id
    WHERE w.client_id = $1 AND w.state = 'DISABLED' AND d.state = 'PENDING'`;
  expect(await select(world, text, world.clientId)).toEqual([]);
}

/** Everything at once: two processes, events, and two changes of endpoints. */
async function meet(world: World, { asked }: { asked: Manage[] }): Promise<void> {
  await insertEvents(world.db, world.clock(), events(world, 8));
  const [first, second] = world.processes;
  for (const { verb, endpoint } of asked)
    if (verb === "disable" || verb === "remove")
      world.facts.endedUnderWay.add(world.endpoints[endpoint % world.endpoints.length]!.id);
  const work = async () => {
    await Promise.all([
      first.webhooks.run("fanOut"),
      first.webhooks.run("deliver"),
      second.webhooks.run("deliver"),
      ...asked.map((each) => manage(world, world.db, each)),
    ]);
  };
  await collect(world, work, false);
}

const process = fc.constantFrom<0 | 1>(0, 1);
const fault = anyFault();
const callFault = fc.option(
  fc.record({ nth: fc.integer({ min: 1, max: 6 }), does: fc.constantFrom<CallFault["does"]>("close", "kill") }),
);
const people = fc.uniqueArray(fc.nat({ max: 3 }), { minLength: 1, maxLength: 3 });
const answer = fc.constantFrom(204, 200, 400, 410, 500, 503, 302, "close" as const);

const anyDelivery = command("deliver", fc.record({ process, fault, callFault }), deliver);
const anyFanOut = command("fan out", fc.record({ process, fault }), fanOut);
const anyClock = command("clock", fc.constantFrom(6, 6, 16, 16, 1801, 100_000), ({ clock }, seconds) =>
  clock.forwardSeconds(seconds),
);
const anyAnswer = command(
  "answer",
  fc.record({ endpoint: anyEndpoint, answer }),
  ({ endpoints, answers }, { endpoint, answer }) => answers.set(endpoints[endpoint % endpoints.length]!.path, answer),
);
const commands = [
  command("change", fc.record({ people, fault }), change),
  command("tell", fc.integer({ min: 1, max: 12 }), (world, count) =>
    insertEvents(world.db, world.clock(), events(world, count)),
  ),
  ...[anyFanOut, anyFanOut, anyDelivery, anyDelivery, anyDelivery, anyClock, anyClock],
  command("register", fc.record({ fault }), register),
  ...[anyAnswer, anyAnswer],
  command(
    "manage",
    fc.tuple(anyManage, fault).map(([asked, at]) => ({ ...asked, fault: at })),
    manageWithFault,
  ),
  command("clean", fc.record({ job: fc.constantFrom("drop" as const, "sweep" as const), fault }), clean),
  command("meet", fc.record({ asked: fc.array(anyManage, { maxLength: 2 }) }), meet),
];

/** Receivers that accept everything, endpoints that are resumed, and time: nothing may be left. */
async function drain(world: World): Promise<void> {
  world.answers.clear();
  for (const { id } of world.endpoints) await refusable(resumeEndpoint(world.db, id, origin(world)));
  const pending = () =>
    select(
      world,
      "SELECT d.id FROM webhook_delivery d JOIN webhook_endpoint w ON w.id = endpoint_id WHERE w.client_id = $1 AND d.state = 'PENDING'",
      world.clientId,
    );
  for (let round = 0; round < 3; round++) {
    world.clock.forwardSeconds(1801);
    await fanOut(world, { process: 0, fault: null });
    await deliver(world, { process: 0, fault: null, callFault: null });
  }
  expect(await pending()).toEqual([]);
}

/** Deliveries that neither arrived nor failed for a reason. */
async function findLost(world: World): Promise<string[]> {
  const { facts, endpoints } = world;
  const rows = await select<{ key: string; state: string; attempts: number }>(
    world,
    `SELECT endpoint_id || ' ' || message_id AS key, d.state, attempts - attempts_spent AS attempts
     FROM webhook_delivery d WHERE endpoint_id = ANY ($1)`,
    endpoints.map(({ id }) => id),
  );
  const found = new Map(rows.map((row) => [row.key, row]));
  expect(found.size).toBe(rows.length);
  const disabled = await select<{ id: string }>(
    world,
    "SELECT detail->>'endpointId' AS id FROM audit WHERE client_id = $1 AND action = 'webhook_endpoint_disabled'",
    world.clientId,
  );
  const wasDisabled = new Set(disabled.map(({ id }) => id));
  const pathOf = new Map(endpoints.map(({ id, path }) => [id, path]));
  const accepted = new Set(facts.calls.filter(({ isAccepted }) => isAccepted).map(({ path, id }) => `${path} ${id}`));
  return facts.deliveries.flatMap(({ id, endpointId, createdAt }) => {
    const row = found.get(`${endpointId} ${id}`);
    const isSwept = facts.sweptAt.some((at) => at.getTime() - createdAt.getTime() >= settings.logDays * 86_400_000);
    if (facts.removed.has(endpointId)) return [];
    if (row === undefined) return isSwept ? [] : [`${id} is gone`];
    const isSpent = row.attempts > settings.retrySeconds.length || wasDisabled.has(endpointId);
    const isGood = row.state === "DELIVERED" ? accepted.has(`${pathOf.get(endpointId)} ${id}`) : isSpent;
    return isGood ? [] : [`${id} is ${row.state} after ${row.attempts} attempts`];
  });
}

/** Events of one person in an order other than that of the changes, or before the one in front was accepted. */
function findDisorder({ endpoints, facts }: World): string[] {
  return endpoints.flatMap(({ id: endpointId, path }) => {
    const calls = facts.calls.filter((call) => call.path === path);
    const firsts = new Map<string, number>();
    const accepted = new Map<string, number>();
    for (const [n, { id, isAccepted }] of calls.entries()) {
      if (!firsts.has(id)) firsts.set(id, n);
      if (isAccepted && !accepted.has(id)) accepted.set(id, n);
    }
    const told = facts.deliveries.filter(
      ({ id, endpointId: of }) => of === endpointId && firsts.has(id) && !facts.repeated.has(`${endpointId} ${id}`),
    );
    const bodyOf = new Map(calls.map(({ id, body }) => [id, body]));
    return told.flatMap(({ id }, n) => {
      const before = told
        .slice(0, n)
        .findLast((other) => subjectOf(bodyOf.get(other.id)!) === subjectOf(bodyOf.get(id)!));
      if (before === undefined) return [];
      const isStrict = accepted.has(before.id) && !facts.endedUnderWay.has(endpointId);
      const since = isStrict ? accepted.get(before.id)! : firsts.get(before.id)!;
      return since < firsts.get(id)! ? [] : [`${id} came before ${before.id}`];
    });
  });
}

const subjectOf = (body: string): unknown => (JSON.parse(body) as { personId: string }).personId;

/** A repetition has the body of the first call; without a fault there is none of what was accepted. */
function checkRepetitions({ facts, endpoints }: World): void {
  const bodies = new Map<string, Set<string>>();
  for (const { id, body } of facts.calls) bodies.set(id, (bodies.get(id) ?? new Set()).add(body));
  expect([...bodies.values()].filter(({ size }) => size > 1)).toEqual([]);
  if (facts.losses > 0) return;
  const idOf = new Map(endpoints.map(({ path, id }) => [path, id]));
  const accepted = facts.calls
    .filter(({ isAccepted, path, id }) => isAccepted && !facts.repeated.has(`${idOf.get(path)} ${id}`))
    .map(({ path, id }) => `${path} ${id}`);
  expect(accepted.length).toBe(new Set(accepted).size);
}

test(
  "whatever fails, no event is lost, none comes in another order, and none goes to an endpoint that has ended",
  { timeout: walkTimeoutMs },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 30, size: "max" }), async (made) => {
        const world = await makeWorld();
        await register(world, { fault: null });
        await register(world, { fault: null });
        await fc.asyncModelRun(() => ({ model: {}, real: world }), made);
        await drain(world);
        expect(await findLost(world)).toEqual([]);
        expect(findDisorder(world)).toEqual([]);
        checkRepetitions(world);
        await endWorld(world);
      }),
      walks(12, 2),
    );
  },
);
