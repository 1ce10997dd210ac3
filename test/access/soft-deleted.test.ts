import { expect, test } from "vitest";
import {
  askingApps,
  changeDirectory,
  setGrant,
  setSignOn,
  setSync,
  setSyncedGroups,
  withdrawGrant,
  type ClientId,
  type SignOnAudience,
} from "../../src/access/index.ts";
import {
  deleteGroup,
  deletePerson,
  restorePerson,
  softDeletePerson,
  type Change,
  type GroupId,
  type PersonId,
  type SchoolId,
} from "../../src/directory/index.ts";
import { addDays } from "../../src/platform/clock.ts";
import { idm, makeReader, schulconnex, type Reader } from "../support/api.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { getAppToken } from "../support/token.ts";

// What becomes of the groups of a soft-deleted person takes them away from no app.

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const now = new Date("2026-02-03T08:00:00Z");
const later = addDays(now, 1);
const change = (...works: Work[]) =>
  changeDirectory(db, { at: later, actorId: "test" }, async (it) => {
    for (const work of works) await work(it);
  });
const purgeAt = addDays(later, 30);

type Work = (it: Change) => Promise<unknown>;
type World = {
  clientId: ClientId;
  schoolId: SchoolId;
  groupId: GroupId;
  other: GroupId;
  personId: PersonId;
  appId: string;
  read: Reader;
};

/** A pupil in one class that may sign in and is synced; another group is neither. */
async function makeWorld(subjectType: "SHARED" | "APP" = "SHARED"): Promise<World> {
  const app = await make.app({ subjectType, confirmsErasures: true });
  const schoolId = await make.school();
  const [groupId, other] = [await make.group({ school: schoolId }), await make.group({ school: schoolId })];
  const personId = await make.person({ school: schoolId, groups: [groupId, other] });
  const signOn = { kind: "GROUPS", groups: [groupId] } as const;
  await make.grant({ app: app.clientId, school: schoolId, signOn, groups: [groupId] });
  const read = makeReader(service, await getAppToken(service, app, ["users:read", "people:read"]));
  const people = (await read(`${idm}/schools/${schoolId}/people`)).body as { id: string }[];
  const appId = people[0]!.id;
  await db.pool.query("DELETE FROM app_event");
  return { clientId: app.clientId, schoolId, groupId, other, personId, appId, read };
}

const softDelete =
  ({ personId }: World): Work =>
  (it) =>
    softDeletePerson(it, { personId, restoreWindowDays: 30 });

/** What the app reads of the person everywhere. */
async function look({ schoolId, appId, read }: World) {
  type Listed = { id: string; status: string };
  type Kontext = { loeschung: { zeitpunkt: string } | null };
  const listed = (await read(`${idm}/schools/${schoolId}/people?show-deleted=true`)).body as Listed[];
  const records = (await read(`${schulconnex}/personen-info`)).body as { pid: string; personenkontexte: Kontext[] }[];
  const user = await read(`${idm}/users/${appId}`);
  const contexts = records.find(({ pid }) => pid === appId)?.personenkontexte;
  return {
    people: Array.isArray(listed) ? (listed.find(({ id }) => id === appId)?.status ?? null) : null,
    loeschung: contexts === undefined ? null : (contexts[0]!.loeschung?.zeitpunkt ?? "none"),
    user: user.status === 200 ? (user.body as { status: string }).status : user.status,
  };
}

const shown = {
  people: "SOFT_DELETED",
  loeschung: `${purgeAt.toISOString().slice(0, 16)}Z`,
  user: "SOFT_DELETED",
};
const gone = { people: null, loeschung: null, user: 404 };
const back = { people: "ACTIVE", loeschung: "none", user: "ACTIVE" };

type Told = { action: string; updated_properties: string[]; reason: string | null };
/** What the app was told of the person since the last look. */
const takeTold = async ({ clientId, personId }: World): Promise<string[]> => {
  const { rows } = await db.pool.query<Told>(
    `WITH told AS (DELETE FROM app_event WHERE client_id = $1 AND subject_id = $2 RETURNING *)
    SELECT action, updated_properties, reason FROM told ORDER BY seq`,
    [clientId, personId],
  );
  return rows.map(({ action, updated_properties: names, reason }) => [action, ...names, reason ?? []].flat().join(" "));
};

type Step = (world: World) => Work;
const keyOf = ({ clientId, schoolId }: World) => ({ clientId, schoolId });
const setSyncTo =
  (sync: boolean): Step =>
  (world) =>
  (it) =>
    setSync(it, { ...keyOf(world), sync });
const syncOnly =
  (choose: (world: World) => GroupId[]): Step =>
  (world) =>
  (it) =>
    setSyncedGroups(it, { ...keyOf(world), groups: choose(world) });
const letIn =
  (choose: (world: World) => SignOnAudience): Step =>
  (world) =>
  (it) =>
    setSignOn(it, { ...keyOf(world), signOn: choose(world) });
const classEnds: Step =
  ({ groupId }) =>
  (it) =>
    deleteGroup(it, { groupId });
const withdraw: Step = (world) => (it) => withdrawGrant(it, keyOf(world));
const grantAnew: Step = (world) => (it) =>
  setGrant(it, { ...keyOf(world), sync: true, signOn: { kind: "EVERYBODY" }, syncedGroups: [world.other] });

const [lost, regained] = [["update groups"], ["create", "delete status soft_deleted"]];

/** What happens after the soft deletion, one change each; what the app then reads, and what it was told. */
const afterwards: Record<string, { steps: Step[]; reads: object; told: string[] }> = {
  "nothing happens": { steps: [], reads: shown, told: [] },
  "the class ends": { steps: [classEnds], reads: shown, told: lost },
  "the class is synced again": {
    steps: [syncOnly(() => []), syncOnly(({ groupId }) => [groupId])],
    reads: shown,
    told: [...lost, ...lost],
  },
  "other groups may sign in": {
    steps: [letIn(({ other }) => ({ kind: "GROUPS", groups: [other] })), classEnds],
    reads: shown,
    told: lost,
  },
  "nobody may sign in any more": {
    steps: [letIn(() => ({ kind: "NOBODY" }))],
    reads: { ...shown, user: 404 },
    told: [],
  },
  "the school ends the sync": { steps: [setSyncTo(false)], reads: gone, told: ["delete access_withdrawn"] },
  "the school ends the sync, the class ends, and the school syncs again": {
    steps: [setSyncTo(false), classEnds, setSyncTo(true)],
    reads: shown,
    told: ["delete access_withdrawn", ...regained],
  },
  "the school withdraws everything and grants another group": {
    steps: [withdraw, classEnds, grantAnew],
    reads: shown,
    told: ["delete access_withdrawn", ...regained],
  },
};

test.each(Object.keys(afterwards))("an app reads a soft-deleted person as on the day before when %s", async (name) => {
  const { steps, reads, told } = afterwards[name]!;
  const world = await makeWorld();
  await change(softDelete(world));
  expect(await takeTold(world)).toEqual(["delete status soft_deleted"]);
  for (const step of steps) await change(step(world));
  expect(await look(world)).toEqual(reads);
  expect(await takeTold(world)).toEqual(told);
});

test("an app of the same school that never saw a soft-deleted person does not see them then", async () => {
  const world = await makeWorld();
  const { schoolId } = world;
  const stranger = await make.app();
  await make.grant({ app: stranger.clientId, school: schoolId, groups: [await make.group({ school: schoolId })] });
  await change(softDelete(world));
  await change(classEnds(world));
  expect(await look(world)).toEqual(shown);
  const read = makeReader(service, await getAppToken(service, stranger, ["people:read"]));
  expect((await read(`${idm}/schools/${schoolId}/people?show-deleted=true`)).body).toEqual([]);
});

test("a person who leaves in the change that ends the class stays, as soft-deleted", async () => {
  for (const subjectType of ["SHARED", "APP"] as const) {
    const world = await makeWorld(subjectType);
    await change(classEnds(world), softDelete(world));
    expect(await look(world)).toEqual(shown);
    expect(await takeTold(world)).toEqual(["delete status soft_deleted"]);
  }
});

test("whom an older release soft-deleted stays too, from the first change that would take them away", async () => {
  for (const step of [classEnds, syncOnly(() => [])]) {
    const world = await makeWorld();
    await change(softDelete(world));
    await db.pool.query("UPDATE person SET seen_by = NULL WHERE id = $1", [world.personId]);
    await change(step(world));
    expect(await look(world)).toEqual(shown);
  }
});

const restore: Step =
  ({ personId }) =>
  (it) =>
    restorePerson(it, { personId });
const everybody = letIn(() => ({ kind: "EVERYBODY" }));

/** What happens from the soft deletion on, and what comes of the restore. */
const returns: Record<string, { steps: Step[]; reads: object; told: string[] }> = {
  "the class is still there": { steps: [], reads: back, told: ["restore status"] },
  "the class has ended": { steps: [classEnds], reads: gone, told: ["delete no_longer_synced"] },
  "the class is no longer synced": {
    steps: [everybody, syncOnly(() => [])],
    reads: { ...gone, user: "ACTIVE" },
    told: ["restore status"],
  },
  "another group is synced instead": {
    steps: [classEnds, syncOnly(({ other }) => [other])],
    reads: { ...back, user: 404 },
    told: ["restore status"],
  },
};

test.each(Object.keys(returns))("a restored person is shown by what holds then when %s", async (name) => {
  const { steps, reads, told } = returns[name]!;
  const world = await makeWorld("APP");
  await change(softDelete(world));
  for (const step of steps) await change(step(world));
  await takeTold(world);
  await change(restore(world));
  expect(await look(world)).toEqual(reads);
  expect(await takeTold(world)).toEqual(told);
  const { rows } = await db.pool.query("SELECT cause FROM erasure WHERE subject_id = $1", [world.appId]);
  expect(rows).toEqual(told[0] === "delete no_longer_synced" ? [{ cause: "no_longer_synced" }] : []);
});

test("a person who is deleted for good after their class ended is announced once, and gone", async () => {
  const world = await makeWorld("APP");
  await change(softDelete(world));
  await change(classEnds(world));
  await takeTold(world);
  await change((it) => deletePerson(it, { personId: world.personId, forget: askingApps(() => Promise.resolve()) }));
  expect(await look(world)).toEqual(gone);
  expect(await takeTold(world)).toEqual(["delete deleted"]);
});
