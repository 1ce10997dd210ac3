import { beforeEach, expect, test } from "vitest";
import { changeDirectory, deleteApp, setSyncedGroups, updateApp, withdrawGrant } from "../../../src/access/index.ts";
import type { ClientId, NewApp } from "../../../src/access/index.ts";
import { forgetPerson } from "../../../src/accounts/index.ts";
import { deletePerson, softDeletePerson } from "../../../src/directory/index.ts";
import type { Change, GroupId, PersonId, SchoolId } from "../../../src/directory/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { askingApps } from "../../../src/access/index.ts";
import { idmScopes } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { issueAppToken } from "../../support/token.ts";
import { makeIdmClient } from "../../support/typed-clients.ts";

const clock = makeTestClock();
const service = await startService({ clock });
const { db } = service;
const make = makeMakers(db);
const change = <T>(work: (it: Change) => Promise<T>): Promise<T> =>
  changeDirectory(db, { at: service.clock(), actorId: "test" }, work);
async function remove(personId: PersonId): Promise<void> {
  await change((it) => softDeletePerson(it, { personId, restoreWindowDays: 30 }));
  await change((it) => deletePerson(it, { personId, forget: askingApps(forgetPerson) }));
}
const sync = (clientId: ClientId, groups: GroupId[]) =>
  change((it) => setSyncedGroups(it, { clientId, schoolId: school, groups }));
const dayMs = 86_400_000;
const daysLater = (days: number) => clock.set(new Date(Date.parse("2026-02-03T08:00:00.123Z") + days * dayMs));

let school: SchoolId;
let group: GroupId;
beforeEach(async () => {
  daysLater(0);
  school = await make.school();
  group = await make.group({ school });
});

async function makeApp(
  wishes: Partial<NewApp> = {},
  grant: Pick<Parameters<typeof make.grant>[0], "sync" | "signOn"> = {},
) {
  const app = await make.app({ confirmsErasures: true, ...wishes });
  await make.grant({ app: app.clientId, school, groups: grant.sync === false ? [] : [group], ...grant });
  // A new token each time, because the tests move the clock.
  const connect = async () =>
    makeIdmClient({ baseUrl: service.url, accessToken: await issueAppToken(service, app, idmScopes) });
  const read = async (query: { state?: "open" | "erased" | "kept"; limit?: number; cursor?: string } = {}) =>
    (await connect()).GET("/idm/ep/v1/erasures", { params: { query } });
  const list = async (state?: "open" | "erased" | "kept") => (await read(state && { state })).data!;
  const acknowledge = async (id: string, outcome: "erased" | "kept", reason?: "legal_obligation" | "legal_claims") =>
    (await connect()).POST("/idm/ep/v1/erasures/{id}", {
      params: { path: { id } },
      body: { outcome, ...(reason && { reason }) },
    });
  const start = (await (await connect()).GET("/idm/ep/v1/changes")).data!.next;
  const readChanges = async () =>
    (await (await connect()).GET("/idm/ep/v1/changes", { params: { query: { after: start } } })).data!.changes;
  const findId = async (last: string) => {
    const people = await (await connect()).GET("/idm/ep/v1/schools/{id}/people", { params: { path: { id: school } } });
    return people.data!.find(({ name }) => name?.last === last)?.id;
  };
  const readDeletions = async () => (await readChanges()).filter(({ action }) => action === "delete");
  return { clientId: app.clientId, read, readDeletions, list, acknowledge, readChanges, findId };
}

const named = (last: string) => ({ firstFull: "Ada", firstCall: "Ada", last });

test("who is deleted for good is asked for by the id of each app, in the feed and in the list, until it is confirmed", async () => {
  const person = await make.person({ school, groups: [group], name: named("Gone") });
  const [shared, partner, own, silent] = [
    await makeApp(),
    await makeApp({ subjectType: "PARTNER" }),
    await makeApp({ subjectType: "APP" }),
    await makeApp({ confirmsErasures: false }),
  ];
  const ids = await Promise.all([shared, partner, own, silent].map((app) => app.findId("Gone")));
  expect(new Set(ids)).toEqual(new Set([person, ids[1], ids[2]]));
  await remove(person);
  for (const [at, app] of [shared, partner, own].entries()) {
    const [erasure, ...others] = await app.list();
    expect(others).toEqual([]);
    expect(erasure).toEqual({
      id: expect.any(String) as string,
      personId: ids[at],
      cause: "deleted",
      state: "open",
      askedAt: app === shared ? "2026-02-03T08:00:00.123Z" : "2026-02-03T08:00:00.000Z",
      acknowledgedAt: null,
    });
    expect((await app.readChanges()).map(({ personId, reason, erasureId }) => [personId, reason, erasureId])).toEqual([
      [ids[at], "soft_deleted", undefined],
      [ids[at], "deleted", erasure!.id],
    ]);
    for (const other of [shared, partner, own].filter((one) => one !== app))
      expect((await other.acknowledge(erasure!.id, "erased")).error).toMatchObject({ code: "erasure_not_found" });
    clock.forwardSeconds(60);
    const { data: confirmed } = await app.acknowledge(erasure!.id, "erased");
    expect(confirmed).toMatchObject({ id: erasure!.id, personId: ids[at], state: "erased" });
    expect((await app.acknowledge(erasure!.id, "erased")).data).toEqual(confirmed);
    expect((await app.acknowledge(erasure!.id, "kept", "legal_claims")).data).toEqual(confirmed);
    expect([await app.list(), await app.list("erased")]).toEqual([[], [confirmed]]);
  }
  expect(await silent.list()).toEqual([]);
  expect((await silent.readChanges())[1]).not.toHaveProperty("erasureId");
  const audit = await db.prisma.audit.findMany({
    where: { action: "erasure_acknowledged", schoolId: school },
    orderBy: { id: "asc" },
  });
  expect(audit.map(({ personId, detail }) => [personId, detail])).toEqual(
    audit.map(() => [null, { erasureId: expect.any(String) as string, outcome: "erased" }]),
  );
  expect(audit).toHaveLength(3);
});

test("who only leaves an app's view is asked for after the restore window, unless they come back or signed in", async () => {
  const [person, user] = [
    await make.person({ school, groups: [group] }),
    await make.person({ school, groups: [group] }),
  ];
  const app = await makeApp({}, { signOn: "NOBODY" });
  await make.signIn({ app: app.clientId, person: user });
  await sync(app.clientId, []);
  expect(await app.list()).toEqual([]);
  daysLater(29);
  await sync(app.clientId, [group]);
  daysLater(60);
  expect(await app.list()).toEqual([]);
  await sync(app.clientId, []);
  await change((it) => withdrawGrant(it, { clientId: app.clientId, schoolId: school }));
  expect(await app.list()).toEqual([]);
  daysLater(90);
  const asked = await app.list();
  expect(asked.map(({ personId, cause, askedAt }) => [personId, cause, askedAt])).toEqual([
    [person, "no_longer_synced", "2026-05-04T08:00:00.123Z"],
  ]);
  expect((await app.readChanges()).every(({ erasureId }) => erasureId === undefined)).toBe(true);
  await remove(user);
  expect((await app.list()).map(({ personId, cause }) => [personId, cause])).toEqual([
    [person, "no_longer_synced"],
    [user, "deleted"],
  ]);
});

test.each([
  ["shared ids", "SHARED"],
  ["ids of its own", "APP"],
] as const)(
  "who left the view of an app with %s and is then deleted is asked for at once, even if it began to confirm only afterwards",
  async (_what, subjectType) => {
    const people = [await make.person({ school, groups: [group] }), await make.person({ school, groups: [group] })];
    const before = await makeApp({ subjectType }, { signOn: "NOBODY" });
    const after = await makeApp({ confirmsErasures: false, subjectType }, { signOn: "NOBODY" });
    for (const { clientId } of [before, after]) await sync(clientId, []);
    daysLater(3);
    await withPrismaTransaction(db, (tx) =>
      updateApp(
        tx,
        { clientId: after.clientId, confirmsErasures: true },
        { at: clock(), actorId: "test", allowLoopbackHttp: true },
      ),
    );
    for (const app of [before, after]) expect(await app.list()).toEqual([]);
    await remove(people[0]!);
    for (const app of [before, after]) {
      const [erasure, ...others] = await app.list();
      expect(others).toEqual([]);
      expect([erasure!.cause, erasure!.askedAt.slice(0, 16)]).toEqual(["deleted", "2026-02-06T08:00"]);
      const told = await app.readDeletions();
      expect(told.map(({ personId }) => personId)).toContain(erasure!.personId);
      expect(told.map(({ reason, erasureId }) => [reason, erasureId])).toEqual(
        told.map(() => ["no_longer_synced", undefined]),
      );
    }
  },
);

test("an app whose people only sign in is asked too, through their school", async () => {
  const app = await makeApp({ subjectType: "APP" }, { sync: false });
  const person = await make.person({ school });
  await make.signIn({ app: app.clientId, person });
  await remove(person);
  const [erasure] = await app.list();
  expect((await app.readChanges()).at(-1)).toMatchObject({
    action: "delete",
    personId: erasure!.personId,
    schoolId: null,
    erasureId: erasure!.id,
  });
  expect(await db.prisma.erasure.findMany({ where: { clientId: app.clientId }, select: { schoolId: true } })).toEqual([
    { schoolId: school },
  ]);
});

test("confirming at the same time ends alike; what is kept has a reason and can be erased later", async () => {
  const app = await makeApp();
  const people = [await make.person({ school, groups: [group] }), await make.person({ school, groups: [group] })];
  for (const person of people) await remove(person);
  const [first, second] = await app.list();
  expect((await app.acknowledge(first!.id, "kept")).error).toMatchObject({ status: 400, code: "invalid_request" });
  expect((await app.acknowledge(first!.id, "erased", "legal_claims")).response.status).toBe(400);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      n % 2 === 0 ? app.acknowledge(first!.id, "erased") : app.acknowledge(first!.id, "kept", "legal_claims"),
    ),
  );
  expect(answers.map(({ response }) => response.status)).toEqual(answers.map(() => 200));
  expect((await app.acknowledge(first!.id, "kept", "legal_claims")).data).toMatchObject({ state: "erased" });
  await app.acknowledge(second!.id, "kept", "legal_obligation");
  expect((await app.acknowledge(second!.id, "kept", "legal_claims")).data).toMatchObject({
    state: "kept",
    reason: "legal_obligation",
  });
  expect((await app.list("kept")).map(({ id }) => id)).toEqual([second!.id]);
  const { data: erased } = await app.acknowledge(second!.id, "erased");
  expect([erased!.state, erased!.reason]).toEqual(["erased", undefined]);
});

test("pages go on where the last one ended, and an unchanged list is not sent again", async () => {
  const app = await makeApp();
  const people: PersonId[] = [];
  for (let n = 0; n < 5; n++) people.push(await make.person({ school, groups: [group] }));
  for (const person of people) {
    clock.forwardSeconds(1);
    await remove(person);
  }
  const seen: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await app.read({ limit: 2, ...(cursor !== undefined && { cursor }) });
    seen.push(...page.data!.map(({ personId }) => personId));
    const next = /cursor=([^&>]+)/.exec(page.response.headers.get("link") ?? "")?.[1];
    if (next === undefined) break;
    cursor = decodeURIComponent(next);
    // The time of the request does not end a cursor.
    clock.forwardSeconds(1);
  }
  expect(seen).toEqual(people);
  const tagOf = async () => (await app.read()).response.headers.get("etag");
  const tag = await tagOf();
  clock.forwardSeconds(1);
  expect(await tagOf()).toBe(tag);
  await app.acknowledge((await app.list())[0]!.id, "erased");
  expect(await tagOf()).not.toBe(tag);
});

test("erasures end with the app, with a sandbox, and after their time", async () => {
  const [app, other] = [await makeApp(), await makeApp()];
  const people = [await make.person({ school, groups: [group] }), await make.person({ school, groups: [group] })];
  for (const person of people) await remove(person);
  await app.acknowledge((await app.list())[0]!.id, "erased");
  const sweep = () => service.runJob("access.sweepErasures");
  const left = (clientId: ClientId) => db.prisma.erasure.count({ where: { clientId } });
  for (const [days, rows] of [
    [29, 2],
    [31, 1],
    [364, 1],
    [366, 0],
  ] as const) {
    daysLater(days);
    await sweep();
    expect([days, await left(app.clientId)]).toEqual([days, rows]);
  }
  daysLater(0);
  await remove(await make.person({ school, groups: [group] }));
  expect(await left(other.clientId)).toBe(1);
  const origin = { at: clock(), actorId: "test" };
  await deleteApp(db, other.clientId, { origin, forget: () => Promise.resolve() });
  expect(await left(other.clientId)).toBe(0);
});

test("an app that cannot read its people is refused", async () => {
  for (const wishes of [{ scopes: ["schools:read"] }, { type: "PUBLIC" }] as const)
    await expect(
      make.app({ confirmsErasures: true, ...wishes, scopes: [...(wishes.scopes ?? idmScopes)] }),
    ).rejects.toMatchObject({
      code: "erasures_refused",
    });
});
