// @module-tag model
import fc from "fast-check";
import { expect, test } from "vitest";
import { appAttributes, changeDirectory } from "../../src/access/index.ts";
import type { AppAttribute, ClientId } from "../../src/access/index.ts";
import { AppError } from "../../src/platform/errors.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";
import { active, differing, follow, listTold, listWithDeleted, readAll } from "./events-receiver.ts";
import type { Held, Holdings, Told } from "./events-receiver.ts";
import { act, deed, deedOf, signIn } from "./events-world.ts";
import type { World } from "./events-world.ts";

// Apps that do nothing but follow their events hold what they would read, whatever happened in the directory. They are
// asked to erase whoever they were told is gone.

const db = await testDatabase();
const make = makeMakers(db);
const origin = { at: new Date("2026-02-03T08:00:00Z"), actorId: "test" };

/** A change of some deeds, all or none; or a sign-in. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ deeds: fc.array(deed, { minLength: 1, maxLength: 3 }), isGivenUp: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ signIn: deed }) },
);
type Step = typeof step extends fc.Arbitrary<infer Made> ? Made : never;
class GivenUp extends Error {}

/** What the second app may read, which has ids of its own; the first may read everything. */
const attributes = fc.subarray([...appAttributes]);

async function makeWorld(granted: AppAttribute[]): Promise<World> {
  const clients: ClientId[] = [];
  for (const [subjectType, may] of [
    ["SHARED", appAttributes],
    ["APP", granted],
  ] as const)
    clients.push((await make.app({ subjectType, attributes: [...may], confirmsErasures: true })).clientId);
  const world: World = { clients, schools: [await make.school(), await make.school()], groups: [], people: [] };
  for (const school of world.schools) {
    for (let n = 0; n < 3; n++) world.groups.push({ id: await make.group({ school }), school });
    const inside = world.groups.filter((group) => group.school === school).map(({ id }) => id);
    for (const role of ["STUDENT", "TEACHER"] as const)
      world.people.push(await make.person({ school, role, groups: inside.slice(0, 2) }));
  }
  await make.grant({ app: clients[0]!, school: world.schools[0]!, groups: [world.groups[0]!.id] });
  return world;
}

/** Answers whether it was refused or given up. */
async function take(world: World, taken: Step, openMs = 0): Promise<boolean> {
  const before = { groups: [...world.groups], people: [...world.people] };
  try {
    if ("signIn" in taken) await signIn(db, world, taken.signIn);
    else {
      await changeDirectory(db, origin, async (change) => {
        for (const each of taken.deeds) await act(change, world, each);
        if (openMs > 0) await change.tx.query("SELECT pg_sleep($1::float / 1000)", [openMs]);
        if (taken.isGivenUp && taken.deeds.length === 3) throw new GivenUp();
      });
    }
    return false;
  } catch (error) {
    // Nobody signs in who is gone for good.
    if (!(error instanceof AppError || error instanceof GivenUp || (error as { code?: string }).code === "23503"))
      throw error;
    Object.assign(world, before);
    return true;
  }
}

const lastSeq = async (): Promise<string> =>
  (await db.pool.query<{ seq: string }>("SELECT coalesce(max(seq), 0) AS seq FROM app_event")).rows[0]!.seq;

async function startReceivers(world: World): Promise<Map<ClientId, Holdings>> {
  const receivers = new Map<ClientId, Holdings>();
  for (const client of world.clients) receivers.set(client, await readAll(db.pool, client));
  return receivers;
}

/** One deed at a time, most of them about groups of people who are soft-deleted. */
const leaverVerbs = [
  ...(["softDelete", "softDelete", "softDelete", "restore", "purge", "removeMembership", "addMembership"] as const),
  ...(["deleteGroup", "deleteGroup", "restoreGroup", "setSyncedGroups", "setSyncedGroups", "setGrant"] as const),
  ...(["setSync", "setSignOn", "setSignOn", "withdrawGrant", "wholeSchool"] as const),
];
const leaverStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: deedOf(leaverVerbs).map((made) => ({ deeds: [made], isGivenUp: false })) },
  { weight: 1, arbitrary: deed.map((made) => ({ signIn: made })) },
);

test.each([
  ["whatever happens", step],
  ["whatever becomes of the groups of soft-deleted people", leaverStep],
] as const)(
  "%s, the set that an app reconstructs from its events is what it may read",
  { timeout: walkTimeoutMs },
  async (_, step) => {
    await fc.assert(
      fc.asyncProperty(attributes, fc.array(step, { minLength: 10, maxLength: 30 }), async (granted, steps) => {
        const world = await makeWorld(granted);
        const receivers = await startReceivers(world);
        const checkErasures = makeErasureCheck();
        const checkStaying = await makeStayingCheck(world.clients);
        let seq = await lastSeq();
        for (const taken of steps) {
          const isRefused = await take(world, taken);
          const told = await listTold(db.pool, world.clients, seq);
          seq = told.at(-1)?.seq ?? seq;
          if (isRefused) expect(told).toEqual([]);
          for (const [client, holdings] of receivers) {
            const shown = await readAll(db.pool, client);
            const mine = told.filter((event) => event.client_id === client);
            checkOncePerSubject(mine);
            for (const event of mine) {
              const key = `${event.type} ${event.subject_id}`;
              checkWord(event, holdings.get(key), shown.get(key));
              follow(holdings, shown, event);
            }
            checkHoldings(holdings, shown);
          }
          await checkErasures(world.clients, told);
          await checkStaying("deeds" in taken && taken.deeds.some(({ verb }) => verb === "restore"));
        }
      }),
      walks(4, 1),
    );
  },
);

/**
 * Soft-deleted people stay in the lists that had them, until they are restored or deleted for good and as long as the
 * school syncs. Who is restored and soft-deleted again in one change begins anew.
 */
async function makeStayingCheck(clients: readonly ClientId[]) {
  const list = async () => {
    const read = await Promise.all(clients.map((client) => listWithDeleted(db.pool, client)));
    return new Map(read.flat().map((one) => [one.key, one]));
  };
  let had = await list();
  return async (mayBeginAnew: boolean): Promise<void> => {
    const { left, now } = { left: new Map(had), now: await list() };
    for (const [key, { isListed, isActive, mayStay, purgeAt }] of now) {
      const before = left.get(key);
      if (isActive || !mayStay || before?.isListed !== true || (mayBeginAnew && !before.isActive)) continue;
      expect([key, isListed], "a soft-deleted person who was listed").toEqual([key, true]);
      if (!before.isActive) expect([key, purgeAt]).toEqual([key, before.purgeAt]);
    }
    // A list that is hidden because the school does not sync comes back with its people.
    for (const [key, one] of now)
      if (!one.isActive && !one.mayStay && left.get(key)?.isActive === false && !mayBeginAnew)
        one.isListed = left.get(key)!.isListed;
    had = now;
  };
}

/** Whom apps must erase, by the last that each was told of a person: a deletion that is not soft. */
function makeErasureCheck() {
  const gone = new Set<string>();
  return async (clients: readonly ClientId[], told: readonly Told[]): Promise<void> => {
    for (const { client_id: client, type, subject_id: subject, action, updated_properties: names } of told) {
      if (type !== "person") continue;
      if (action === "create") gone.delete(`${client} ${subject}`);
      if (action === "delete" && names.length === 0) gone.add(`${client} ${subject}`);
    }
    const { rows } = await db.pool.query<{ key: string }>(
      "SELECT concat(client_id, ' ', subject_id) AS key FROM erasure WHERE client_id = ANY ($1)",
      [clients],
    );
    expect(rows.map(({ key }) => key).toSorted(), "who is to be erased").toEqual([...gone].toSorted());
  };
}

/** One event for each subject; whoever enters while deleted is told of by two. */
function checkOncePerSubject(told: readonly Told[]): void {
  const bySubject = Map.groupBy(told, ({ type, subject_id }) => `${type} ${subject_id}`);
  for (const events of bySubject.values()) {
    const words = events.map(({ action, updated_properties }) => `${action} ${updated_properties.join()}`);
    if (words.length > 1) expect(words).toEqual(["create ", "delete status"]);
  }
}

/** Each event says what happened, neither more nor less. */
function checkWord(
  { action, updated_properties: names, reason }: Told,
  held: Held | undefined,
  shown: Held | undefined,
): void {
  expect(reason === null).toBe(action !== "delete");
  expect(held === undefined, "only what is created was not known").toBe(action === "create");
  if (action === "restore")
    expect([held?.isActive, shown?.isActive, names.includes("status")]).toEqual([false, true, true]);
  if (action === "delete") expect(shown?.isActive ?? false).toBe(false);
  if (action !== "update" || held === undefined || shown === undefined || held.properties["name"] === undefined) return;
  const differs = differing(held.properties, shown.properties);
  expect(differs, "an update of nothing that can be read").not.toEqual([]);
  expect(new Set(names)).toEqual(new Set(differs.filter((name) => name !== "rest")));
}

/** What is held is what can be read, of whoever is soft-deleted too. */
function checkHoldings(holdings: Holdings, shown: Holdings): void {
  expect(active(holdings)).toEqual(active(shown));
  expect([...holdings.keys()].toSorted(), "who is told of").toEqual([...shown.keys()].toSorted());
  for (const [key, { isActive, properties, usersOf }] of shown) {
    const held = holdings.get(key)!;
    if (!isActive) expect([key, held?.isActive, held?.properties]).toEqual([key, false, properties]);
    // A right to sign in that comes or goes tells nothing; everything else that changes a list of users does.
    if (isActive && held.usersOf.length > 0 && usersOf.length > 0) expect(held.usersOf).toEqual(usersOf);
    holdings.set(key, { ...held, usersOf });
  }
}

/** Two people who are at both schools, in groups that both sync: what one change does to them hangs on the others. */
async function makeCrowdedWorld(): Promise<World> {
  const { clientId } = await make.app({ confirmsErasures: true });
  const schools = [await make.school(), await make.school()] as const;
  const groups = await Promise.all(schools.map(async (school) => ({ id: await make.group({ school }), school })));
  const people = [];
  for (let n = 0; n < 2; n++)
    people.push(await make.person({ schools: [...schools], groups: groups.map(({ id }) => id) }));
  for (const { id, school } of groups) await make.grant({ app: clientId, school, signOn: "NOBODY", groups: [id] });
  return { clients: [clientId], schools: [...schools], groups, people };
}

const crowdedVerbs = [
  "setSync",
  "setSync",
  "setSyncedGroups",
  "setSignOn",
  "addMembership",
  "removeMembership",
  "deleteGroup",
  "restoreGroup",
] as const;
const crowdedStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: deedOf(crowdedVerbs).map((made) => ({ deeds: [made], isGivenUp: false })) },
  { weight: 1, arbitrary: deed.map((made) => ({ signIn: made })) },
);

test("changes at the same time agree with each other", { timeout: walkTimeoutMs }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(crowdedStep, crowdedStep, crowdedStep), { minLength: 5, maxLength: 10 }),
      async (rounds) => {
        const world = await makeCrowdedWorld();
        const receivers = await startReceivers(world);
        const checkErasures = makeErasureCheck();
        let seq = await lastSeq();
        for (const round of rounds) {
          await Promise.all(round.map((taken) => take(world, taken, overlapMs)));
          const told = await listTold(db.pool, world.clients, seq);
          seq = told.at(-1)?.seq ?? seq;
          for (const [client, holdings] of receivers) {
            const shown = await readAll(db.pool, client);
            for (const event of told) follow(holdings, shown, event);
            checkHoldings(holdings, shown);
          }
          await checkErasures(world.clients, told);
        }
      },
    ),
    walks(4, 1),
  );
});

// Changes stay open for a while, so that they meet.
const overlapMs = 5;
