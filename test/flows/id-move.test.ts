import { decodeJwt } from "jose";
import { beforeAll, expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import {
  addMembership,
  createPerson,
  deletePerson,
  removeMembership,
  softDeletePerson,
  updatePerson,
  type PersonId,
} from "../../src/directory/index.ts";
import { readConfig } from "../../src/config/index.ts";
import { makeStaff, refusalOf, type AdminClient } from "../support/admin.ts";
import { getReader, idm, idmScopes, schulconnex, type Reader } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { askFor, getUserTokens, giveLogin, type TestApp } from "../support/token.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { inside } from "../support/webhooks.ts";

// An app with shared ids is moved to ids of its own: nobody is lost, and each id is valid exactly when it should be.

const clock = makeTestClock();
let service: TestService;
let make: ReturnType<typeof makeMakers>;

beforeAll(async () => {
  service = await startService({ clock, env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
  make = makeMakers(service.db, clock());
});

const change = (work: Parameters<typeof changeDirectory<unknown>>[2]) =>
  changeDirectory(service.db, { at: clock(), actorId: "test" }, work);

type Body = Record<string, unknown>;
type Changed = { oldId: string; newId: string; inUse: string; contexts: { oldId: string; newId: string }[] };
type World = {
  app: TestApp & { read: Reader };
  receiver: Receiver;
  school: never;
  group: never;
  partner: AdminClient;
  path: string;
};

async function makeWorld(): Promise<World> {
  const receiver = await startReceiver();
  const made = await make.app({
    backchannelLogoutUri: `${receiver.url}/logout` as never,
    scopes: ["openid", "offline_access", "profile", ...idmScopes],
  });
  const endpoint = { clientId: made.clientId, url: `${receiver.url}/hook`, eventTypes: ["person"] } as const;
  const keys = readConfig({ NODE_ENV: "test" }).encryptionKeys;
  await registerEndpoint(service.db, endpoint, { origin: { at: clock(), actorId: "test" }, keys, policy: inside });
  const school = await make.school();
  const group = await make.group({ school });
  await make.grant({ app: made.clientId, school, groups: [group] });
  const { call: partner } = await makeStaff(service, "PARTNER", { clientIds: [made.clientId] });
  const app = { ...made, read: await getReader(service, made) };
  return {
    app,
    receiver,
    school: school as never,
    group: group as never,
    partner,
    path: `/apps/${made.clientId}/id-move`,
  };
}

const listIds = async ({ app, school }: World, list = "people"): Promise<string[]> =>
  ((await app.read(`${idm}/schools/${school as string}/${list}`)).body as { id: string }[]).map(({ id }) => id);
const listChanged = async ({ app }: World): Promise<Changed[]> =>
  (await app.read(`${idm}/identifier-changes`)).body as Changed[];
const deliver = async () => {
  await service.runJob("webhooks.fanOut");
  await service.runJob("webhooks.deliver");
};
const eventsOf = ({ receiver }: World) =>
  receiver.received.filter(({ path }) => path === "/hook").map(({ body }) => JSON.parse(body) as Body);
async function readFeed({ app }: World, after: string): Promise<Body[]> {
  return ((await app.read(`${idm}/changes?after=${after}`)).body as { changes: Body[] }).changes;
}

test("known people keep their ids until the cut-over, and newcomers have new ones at once", async () => {
  const world = await makeWorld();
  const { app, school, group, partner, path } = world;
  const [seen, softDeleted, left, gone] = [
    await make.person({ school, groups: [group] }),
    await make.person({ school, groups: [group] }),
    await make.person({ school, groups: [group] }),
    await make.person({ school, groups: [group] }),
  ];
  const user = await make.person({ school: await make.school() });
  await make.signIn({ app: app.clientId, person: user });
  await change((it) => softDeletePerson(it, { personId: softDeleted, restoreWindowDays: 30 }));
  await make.grant({ app: app.clientId, school, signOn: "NOBODY", groups: [group] });
  await change((it) => removeMembership(it, { groupId: group, personId: left }));
  const { next } = (await app.read(`${idm}/changes`)).body as { next: string };

  const preview = await partner("POST", `${path}?dry-run=true`, { body: { subjectType: "APP" } });
  expect(preview).toMatchObject({ status: 200, body: { people: 5 } });
  expect(await partner("GET", path)).toMatchObject({ status: 404 });
  const tag = (await app.read(`${idm}/schools/${school as string}/people`)).headers.get("etag");
  const started = await partner("POST", path, { body: { subjectType: "APP" } });
  expect(started).toMatchObject({ status: 201, body: { state: "PREPARING", sector: null } });
  expect(refusalOf(await partner("POST", path, { body: { subjectType: "APP" } }))).toEqual([409, "id_move_exists"]);
  expect(refusalOf(await partner("POST", `${path}/cut-over`))).toEqual([409, "id_move_not_ready"]);
  await service.runJob("access.moveIds");
  expect(await partner("GET", path)).toMatchObject({
    body: { state: "RUNNING", people: 5, announced: 4, isAnnounced: true, read: 0, readAt: null },
  });
  const now = await app.read(`${idm}/schools/${school as string}/people`);
  expect(now.headers.get("etag")).not.toBe(tag);
  expect((await listIds(world)).sort()).toEqual([seen, gone].sort());
  expect(await app.read(`${idm}/users/${user}`)).toMatchObject({ status: 200, body: { id: user } });

  const newcomer = await make.person({ school, groups: [group] });
  const ids = await listIds(world);
  expect(ids).toHaveLength(3);
  expect(ids).not.toContain(newcomer);
  const newId = ids.find((id) => id !== seen && id !== gone)!;
  expect(await app.read(`${idm}/people/${newId}`)).toMatchObject({ status: 200 });
  expect(await app.read(`${idm}/people/${newcomer}`)).toMatchObject({ status: 404 });

  const changed = await listChanged(world);
  expect(changed.map(({ oldId }) => oldId)).toEqual([seen, softDeleted, left, user, gone].sort());
  expect(changed.map(({ inUse }) => inUse)).toEqual(changed.map(() => "OLD"));
  const newOf = new Map(changed.map(({ oldId, newId: id }) => [oldId, id]));
  const announced = (await readFeed(world, next)).filter(({ newPersonId }) => newPersonId !== undefined);
  expect(announced.map(({ personId, oldPersonId, newPersonId }) => [personId, oldPersonId, newPersonId])).toEqual(
    [seen, softDeleted, user, gone].sort().map((id) => [id, id, newOf.get(id)]),
  );
  await deliver();
  expect(eventsOf(world).filter(({ newPersonId }) => newPersonId !== undefined)).toHaveLength(4);
  // Who returns is announced then, once.
  await change((it) => addMembership(it, { groupId: group, personId: left }));
  await change((it) => updatePerson(it, { personId: left, role: "TEACHER" }));
  const returned = (await readFeed(world, next)).filter(({ oldPersonId }) => oldPersonId === left);
  expect(returned).toMatchObject([{ personId: left, newPersonId: newOf.get(left), action: "update" }]);
  expect(await partner("GET", path)).toMatchObject({ body: { people: 5, announced: 5, read: 5 } });

  // An event from before the cut-over that is sent and read after it.
  await change((it) => softDeletePerson(it, { personId: gone, restoreWindowDays: 30 }));
  await change((it) => deletePerson(it, { personId: gone, forget: () => Promise.resolve() }));
  await service.runJob("webhooks.fanOut");
  const sent = eventsOf(world).length;
  expect(await partner("POST", `${path}/cut-over`)).toMatchObject({ status: 204 });
  expect(refusalOf(await partner("POST", `${path}/cut-over`))).toEqual([409, "id_move_over"]);
  expect(refusalOf(await partner("DELETE", path))).toEqual([409, "id_move_over"]);
  expect(refusalOf(await partner("POST", path, { body: { subjectType: "APP" } }))).toEqual([409, "ids_already_own"]);
  expect(await partner("GET", `/apps/${app.clientId}`)).toMatchObject({ body: { subjectType: "APP" } });
  expect((await listIds(world)).sort()).toEqual([newOf.get(seen)!, newOf.get(left)!, newId].sort());
  for (const old of [seen, softDeleted, left, user, gone])
    for (const where of [`${idm}/users/`, `${idm}/people/`])
      expect(await app.read(where + old)).toMatchObject({ status: 404 });
  expect(await app.read(`${idm}/users/${newOf.get(user)!}`)).toMatchObject({ status: 200 });
  expect((await listChanged(world)).map(({ inUse }) => inUse)).toEqual(["NEW", "NEW", "NEW", "NEW"]);
  const known = new Set<unknown>([...newOf.values(), newId]);
  const events = await readFeed(world, next);
  expect(events.filter(({ personId }) => !known.has(personId))).toEqual([]);
  expect(events.at(-1)).toMatchObject({ action: "delete", personId: newOf.get(gone) });
  await deliver();
  const late = eventsOf(world).slice(sent);
  expect(late).toContainEqual({ event: "person", action: "delete", personId: newOf.get(gone) });
  expect(late.filter(({ personId }) => !known.has(personId))).toEqual([]);

  clock.forwardSeconds(91 * 86_400);
  await service.runJob("access.moveIds");
  app.read = await getReader(service, app);
  expect(await listChanged(world)).toEqual([]);
  const text = "SELECT FROM pairwise_id WHERE id = record_id AND person_id = ANY($1)";
  expect((await service.db.pool.query(text, [[seen, softDeleted, left, user]])).rows).toEqual([]);
});

test("a move that is called off leaves every id as the app knows it", async () => {
  const world = await makeWorld();
  const { app, school, group, partner, path } = world;
  const before = await make.person({ school, groups: [group] });
  expect(refusalOf(await partner("POST", path, { body: { subjectType: "SHARED" } }))).toEqual([400, "invalid_request"]);
  const passed = { subjectType: "APP", cutOverAt: "2020-01-01T00:00:00Z" };
  expect(refusalOf(await partner("POST", path, { body: passed }))).toEqual([400, "cut_over_passed"]);
  expect(refusalOf(await partner("PATCH", path, { body: { cutOverAt: null } }))).toEqual([404, "id_move_not_found"]);
  const start = async () => {
    expect(await partner("POST", path, { body: { subjectType: "PARTNER" } })).toMatchObject({ status: 201 });
    await service.runJob("access.moveIds");
  };
  await start();
  const newcomer = await make.person({ school, groups: [group] });
  const [own] = (await listIds(world)).filter((id) => id !== before);
  expect(own).not.toBe(newcomer);
  expect(await partner("DELETE", path)).toMatchObject({ status: 204 });
  expect(refusalOf(await partner("POST", path, { body: { subjectType: "APP" } }))).toEqual([409, "id_move_ending"]);
  await service.runJob("access.moveIds");
  expect(await partner("GET", path)).toMatchObject({ status: 404 });
  const later = await make.person({ school, groups: [group] });
  expect((await listIds(world)).sort()).toEqual([before, own, later].sort());
  expect(await partner("GET", `/apps/${app.clientId}`)).toMatchObject({
    body: { subjectType: "SHARED", sector: null },
  });

  // A second try changes the ids of all three.
  await start();
  expect((await listChanged(world)).map(({ oldId }) => oldId)).toEqual([before, own!, later].sort());
  expect(await partner("GET", path)).toMatchObject({ body: { announced: 3, subjectType: "PARTNER" } });
  const { sector } = (await partner("GET", path)).body as { sector: string };
  expect(await partner("POST", `${path}/cut-over`)).toMatchObject({ status: 204 });
  expect(await partner("GET", `/apps/${app.clientId}`)).toMatchObject({ body: { subjectType: "PARTNER", sector } });
  expect((await listIds(world)).some((id) => [before, own, later].includes(id as never))).toBe(false);
});

test("a change that began before the move and ends after it is waited for", async () => {
  const world = await makeWorld();
  const { school, group, partner, path } = world;
  const { promise: isOpen, resolve: open } = Promise.withResolvers<null>();
  const { promise: isWritten, resolve: written } = Promise.withResolvers<null>();
  // Its events are written and not committed while the move starts.
  const atEnd = async () => {
    written(null);
    await isOpen;
  };
  const made = changeDirectory(
    service.db,
    { at: clock(), actorId: "test" },
    async (it) => {
      const personId = await createPerson(it, { role: "STUDENT", name: null, schools: [school] });
      await addMembership(it, { groupId: group, personId });
      return personId;
    },
    atEnd as () => Promise<never>,
  );
  await Promise.race([isWritten, made]);
  expect(await partner("POST", path, { body: { subjectType: "APP" } })).toMatchObject({ status: 201 });
  let steps = 0;
  const throwIfAborted = () => {
    if (++steps === 3) open(null);
  };
  const job = service.jobs.find(({ name }) => name === "access.moveIds")!;
  await job.run(Object.assign(new AbortController().signal, { throwIfAborted }));
  const person = await made;
  expect(await listIds(world)).toEqual([person]);
  expect((await listChanged(world)).map(({ oldId }) => oldId)).toEqual([person]);
  expect(await partner("GET", path)).toMatchObject({ body: { announced: 1 } });
});

test("sign-on, hints and logout tokens follow the ids, and a session keeps its sid until the cut-over", async () => {
  const world = await makeWorld();
  const { app, school, group, partner, path, receiver } = world;
  const person = await make.person({ school, groups: [group] });
  const login = await giveLogin(service.db, person);
  const scopes = ["openid", "offline_access", "profile", "users:read"] as const;
  const browser = makeBrowser(service.url);
  const { id_token: oldToken = "" } = await getUserTokens(service, app, login, { browser, scopes });
  const before = decodeJwt(oldToken);
  expect(before.sub).toBe(person);
  await partner("POST", path, { body: { subjectType: "APP" } });
  await service.runJob("access.moveIds");
  const during = decodeJwt((await getUserTokens(service, app, login, { browser, scopes })).id_token!);
  expect([during.sub, during["sid"]]).toEqual([person, before["sid"]]);
  const [changed] = await listChanged(world);
  await partner("POST", `${path}/cut-over`);
  const tokens = await getUserTokens(service, app, login, { browser, scopes });
  const after = decodeJwt(tokens.id_token!);
  expect(after.sub).toBe(changed!.newId);
  expect(after["sid"]).not.toBe(before["sid"]);
  // A hint with an old id counts like one of nobody.
  const silently = async (params: Record<string, string>) => {
    const asked = askFor(service, app, { params: { prompt: "none", ...params } });
    return new URL((await browser.open(asked.address)).url).searchParams.get("error") ?? "signed in";
  };
  const first = await getUserTokens(service, app, login, { browser, scopes });
  expect(await silently({ id_token_hint: first.id_token! })).toBe("signed in");
  expect(await silently({ login_hint: changed!.newId })).toBe("signed in");
  expect(await silently({ id_token_hint: oldToken })).toBe("login_required");
  expect(await silently({ login_hint: person })).toBe("login_required");
  const info = await app.read(`${schulconnex}/personen-info?pid=${changed!.newId}`);
  expect(info.body).toMatchObject([{ pid: changed!.newId, personenkontexte: [{ id: changed!.contexts[0]!.newId }] }]);
  expect((await app.read(`${schulconnex}/personen-info?pid=${person}`)).body).toEqual([]);
  expect(
    (await app.read(`${schulconnex}/personen-info?personenkontext.id=${changed!.contexts[0]!.oldId}`)).body,
  ).toEqual([]);
  const page = await browser.open(
    `${service.url}/oauth2/sessions/logout?${new URLSearchParams({ id_token_hint: tokens.id_token! }).toString()}`,
  );
  await browser.submit(page, "/confirm", { logout: "yes" });
  await service.runJob("sign-on.tellLogouts");
  const sent = receiver.received.filter(({ path: to }) => to === "/logout").at(-1)!;
  expect(decodeJwt(new URLSearchParams(sent.body).get("logout_token")!)).toMatchObject({
    sub: after.sub,
    sid: after["sid"],
  });
});

test("apps of one partner are moved to common ids, each at its own time", async () => {
  const [one, two] = [await makeWorld(), await makeWorld()];
  const foreign = await makeWorld();
  const clientIds = [one.app.clientId, two.app.clientId];
  const { call: partner } = await makeStaff(service, "PARTNER", { clientIds });
  await make.grant({ app: two.app.clientId, school: one.school, groups: [one.group] });
  const person = await make.person({ school: one.school, groups: [one.group] });
  expect(await partner("POST", one.path, { body: { subjectType: "PARTNER" } })).toMatchObject({ status: 201 });
  const { sector } = (await partner("GET", one.path)).body as { sector: string };
  const body = { subjectType: "PARTNER", sector };
  expect(refusalOf(await foreign.partner("POST", foreign.path, { body }))).toEqual([400, "sector_refused"]);
  expect(refusalOf(await foreign.partner("POST", one.path, { body }))).toEqual([404, "app_not_found"]);
  const wrong = { body: { subjectType: "APP", sector } };
  expect(refusalOf(await partner("POST", two.path, wrong))).toEqual([400, "sector_refused"]);
  await service.runJob("access.moveIds");
  const early = await make.person({ school: one.school, groups: [one.group] });
  expect(await partner("POST", two.path, { body })).toMatchObject({ status: 201, body: { sector } });
  await service.runJob("access.moveIds");
  const late = await make.person({ school: one.school, groups: [one.group] });
  const read = async ({ app }: World) =>
    ((await app.read(`${idm}/schools/${one.school as string}/people`)).body as { id: string }[]).map(({ id }) => id);
  const [ofOne, ofTwo] = [await read(one), await read(two)];
  // Early is new to the first app and known to the second one; late is new to both, which share the new id.
  expect([ofOne.includes(person), ofTwo.includes(person), ofTwo.includes(early)]).toEqual([true, true, true]);
  expect(ofOne.filter((id) => ofTwo.includes(id) && id !== person)).toHaveLength(1);
  expect([...ofOne, ...ofTwo]).not.toContain(late);
  expect(await partner("POST", `${one.path}/cut-over`)).toMatchObject({ status: 204 });
  expect(await read(two)).toEqual(ofTwo);
  expect(await partner("POST", `${two.path}/cut-over`)).toMatchObject({ status: 204 });
  expect((await read(two)).sort()).toEqual((await read(one)).sort());
});

test("the list of new ids comes in pages, finds one person by either id, and is counted", async () => {
  const world = await makeWorld();
  const { app, school, group, partner, path } = world;
  for (let made = 0; made < 5; made++) await make.person({ school, groups: [group] });
  await partner("POST", path, { body: { subjectType: "APP" } });
  await service.runJob("access.moveIds");
  const [changed] = await listChanged(world);
  await service.db.pool.query("UPDATE id_move SET read = 0, read_up_to = NULL");
  const pages: Changed[][] = [];
  let next: string | null = `${idm}/identifier-changes?limit=2`;
  while (next !== null) {
    const { body, headers } = await app.read(next);
    pages.push(body as Changed[]);
    next = /<([^>]*)>/.exec(headers.get("link") ?? "")?.[1] ?? null;
    const { read } = (await partner("GET", path)).body as { read: number };
    expect(read).toBe(pages.flat().length);
  }
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  expect(pages.flat()).toEqual(await listChanged(world));
  for (const id of [changed!.oldId, changed!.newId])
    expect((await app.read(`${idm}/identifier-changes?id=${id}`)).body).toEqual([changed]);
  expect((await app.read(`${idm}/identifier-changes?id=${world.school as string}`)).body).toEqual([]);
  const other = await makeWorld();
  expect((await other.app.read(`${idm}/identifier-changes?id=${changed!.oldId}`)).body).toEqual([]);
  const { headers } = await app.read(`${idm}/identifier-changes`);
  await change((it) => softDeletePerson(it, { personId: changed!.oldId as PersonId, restoreWindowDays: 30 }));
  await change((it) => deletePerson(it, { personId: changed!.oldId as PersonId, forget: () => Promise.resolve() }));
  const after = await app.read(`${idm}/identifier-changes`, { "if-none-match": headers.get("etag")! });
  expect([after.status, (after.body as Changed[]).length]).toEqual([200, 4]);
});

test("the cut-over comes at its date", async () => {
  const world = await makeWorld();
  const { school, group, partner, path } = world;
  const person = await make.person({ school, groups: [group] });
  const at = (days: number) => new Date(clock().getTime() + days * 86_400_000).toISOString();
  await partner("POST", path, { body: { subjectType: "APP", cutOverAt: at(2) } });
  await service.runJob("access.moveIds");
  const { headers } = await partner("GET", path);
  const stale = { body: { cutOverAt: null }, headers: { "if-match": '"other"' } };
  expect(await partner("PATCH", path, stale)).toMatchObject({ status: 412 });
  const later = { body: { cutOverAt: at(3) }, headers: { "if-match": headers.get("etag")! } };
  expect(await partner("PATCH", path, later)).toMatchObject({ status: 204 });
  clock.forwardSeconds(2.5 * 86_400);
  await service.runJob("access.moveIds");
  world.app.read = await getReader(service, world.app);
  expect(await listIds(world)).toEqual([person]);
  clock.forwardSeconds(86_400);
  await service.runJob("access.moveIds");
  world.app.read = await getReader(service, world.app);
  expect(await listIds(world)).not.toEqual([person]);
  const { call } = await makeStaff(service, "OPERATOR");
  expect(await call("GET", path)).toMatchObject({ body: { state: "CUT_OVER", cutOverAt: clock().toISOString() } });
});
