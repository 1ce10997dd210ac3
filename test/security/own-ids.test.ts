import { decodeJwt } from "jose";
import { beforeAll, expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { deletePerson, softDeletePerson, updatePerson, type PersonId } from "../../src/directory/index.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { makeStaff } from "../support/admin.ts";
import { getReader, idm, idmScopes, schulconnex, type Reader } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { readConfig } from "../../src/config/index.ts";
import { inside } from "../support/webhooks.ts";
import { basic, getUserTokens, giveLogin, postToken, type Login, type TestApp } from "../support/token.ts";

// Two apps that may not read names read everything of the same people. Nothing that they hold says who is who.

hashAllQuickly();
const count = 40;
const clock = makeTestClock();
let service: TestService;
let make: ReturnType<typeof makeMakers>;
let people: PersonId[];
let school: string;
let group: string;
let apps: App[];
let logins: Login[];

type App = TestApp & { read: Reader; receiver: Receiver };

async function startApp(): Promise<App> {
  const receiver = await startReceiver();
  const app = await make.app({
    subjectType: "APP",
    attributes: [],
    backchannelLogoutUri: `${receiver.url}/logout` as never,
    scopes: ["openid", "offline_access", "profile", "role", "groups", "pseudonym", ...idmScopes],
  });
  const endpoint = {
    clientId: app.clientId,
    url: `${receiver.url}/hook`,
    eventTypes: ["person", "group", "school"],
  } as const;
  const keys = readConfig({ NODE_ENV: "test" }).encryptionKeys;
  await registerEndpoint(service.db, endpoint, { origin: { at: clock(), actorId: "test" }, keys, policy: inside });
  return { ...app, receiver, read: await getReader(service, app) };
}

const change = (work: Parameters<typeof changeDirectory<unknown>>[2]) =>
  changeDirectory(service.db, { at: clock(), actorId: "test" }, work);

beforeAll(async () => {
  service = await startService({ clock, env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
  make = makeMakers(service.db, clock());
  school = await make.school();
  group = await make.group({ school: school as never });
  people = await make.people({ school: school as never, count, groups: [group as never] });
  apps = [await startApp(), await startApp()];
  for (const { clientId } of apps)
    await make.grant({ app: clientId, school: school as never, groups: [group as never] });
  logins = [];
  for (const person of people.slice(0, 2)) logins.push(await giveLogin(service.db, person));
});

/** Each string and number, with the names of the properties that lead to it. */
function valuesOf(value: unknown, path = ""): [path: string, value: string][] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(item, path));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, item]) => valuesOf(item, `${path}.${name}`));
  return value === null || typeof value === "boolean" ? [] : [[path, String(value)]];
}

type Listed = { id: string };

async function readEverything({ read, ...app }: App): Promise<unknown[]> {
  const get = async (path: string) => {
    const { status, body, headers } = await read(path);
    expect([200, path]).toEqual([status, path]);
    return { body, headers: { link: headers.get("link") } };
  };
  const users = (await get(`${idm}/schools/${school}/users`)).body as Listed[];
  const listed = [
    ...(await Promise.all([
      get(`${idm}/schools/${school}/people`),
      get(`${idm}/schools/${school}/people?show-deleted=true&limit=100`),
      get(`${idm}/schools/${school}/roster`),
      get(`${idm}/groups/${group}`),
      get(`${idm}/changes?after=${(await feedStart(app.clientId)) ?? ""}`),
      get(`${schulconnex}/personen-info`),
      get(`${schulconnex}/personen-info?limit=100`),
      get(`${schulconnex}/personen-info?organisation.id=${school}`),
      get(`${schulconnex}/personen-info?gruppe.id=${group}`),
    ])),
  ];
  const single = [];
  for (const { id } of users.slice(0, 6))
    single.push(
      await get(`${idm}/users/${id}`),
      await get(`${idm}/people/${id}`),
      await get(`${schulconnex}/personen-info?pid=${id}`),
    );
  const signedIn = [];
  for (const login of logins) signedIn.push(await readAsPerson({ ...app, read }, login));
  return [users, ...listed, ...single, ...signedIn];
}

const starts = new Map<string, string>();
const feedStart = async (clientId: string) => starts.get(clientId);

const browsers = new Map<Login, ReturnType<typeof makeBrowser>>();

/** Both apps use the same session of the person. */
async function readAsPerson(app: App, login: Login): Promise<unknown> {
  const browser = browsers.get(login) ?? makeBrowser(service.url);
  browsers.set(login, browser);
  const scopes = ["openid", "offline_access", "profile", "role", "groups", "pseudonym"] as const;
  const params = { max_age: "7200" };
  const tokens = await getUserTokens(service, app, login, { scopes, browser, params });
  const bearer = { authorization: `Bearer ${tokens.access_token}` };
  const userinfo = await (await fetch(`${service.url}/oauth2/userinfo`, { headers: bearer })).json();
  const body = new URLSearchParams({ token: tokens.access_token });
  const headers = basic(app);
  const introspected = await (
    await fetch(`${service.url}/oauth2/introspect`, { method: "POST", headers, body })
  ).json();
  const refreshed = await postToken(service, app, {
    grant_type: "refresh_token",
    refresh_token: tokens.refresh_token!,
  });
  const read = [decodeJwt(tokens.id_token!), decodeJwt(refreshed.body.id_token!), userinfo, introspected];
  const { sub } = read[0] as { sub: string };
  expect(read.map((one) => (one as { sub: string }).sub)).toEqual(read.map(() => sub));
  expect(await app.read(`${idm}/users/${sub}`)).toMatchObject({ status: 200, body: { id: sub } });
  return read;
}

const shared = [
  "role|rolle|rollen|status|typ|bezeichnung|name|updatedProperties|reason|event|action|type",
  // Made of the person and the app; of many people some have the same.
  "pseudonym",
  // Of the token and its request.
  "iss|scope|token_type|exp|iat|rat",
];
const isSharedName = new RegExp(`\\.(${shared.join("|")})$`);
const isMinute = ([path, value]: [string, string]) =>
  path.endsWith(".auth_time") ? Number(value) % 60 === 0 : /T\d\d:\d\d(:00\.000)?Z$/.test(value);

/** What two apps may have in common: what many people share, what is about schools and groups, and minutes. */
const isShared = (found: [string, string]) =>
  [school, group].includes(found[1]) || isSharedName.test(found[0]) || isMinute(found);

test("nothing that two apps read of the same people is the same in both", async () => {
  for (const { clientId, read } of apps)
    starts.set(clientId, ((await read(`${idm}/changes`)).body as { next: string }).next);
  const [first, gone, back] = people as [PersonId, PersonId, PersonId];
  await change((it) => updatePerson(it, { personId: first, role: "TEACHER" }));
  clock.forwardSeconds(17);
  await change((it) => softDeletePerson(it, { personId: back, restoreWindowDays: 30 }));
  await service.runJob("webhooks.fanOut");
  await service.runJob("webhooks.deliver");
  // Long after the sign-in of the first app the second one finds the session.
  const everything = [];
  for (const app of apps) {
    everything.push(await readEverything(app));
    clock.forwardSeconds(1511);
  }
  await change((it) => softDeletePerson(it, { personId: gone, restoreWindowDays: 30 }));
  await change((it) => deletePerson(it, { personId: gone, forget: () => Promise.resolve() }));
  await service.runJob("webhooks.fanOut");
  await service.runJob("webhooks.deliver");
  for (const [n, { receiver }] of apps.entries())
    everything[n]!.push(
      receiver.received
        .filter(({ path }) => path === "/hook")
        .map(({ headers, body }) => ({ id: headers["webhook-id"], body: JSON.parse(body) as unknown })),
    );
  const [held, others] = everything.map((one) => valuesOf(one).filter((value) => !isShared(value)));
  expect(held!.length).toBeGreaterThan(6 * count);
  const known = new Map(others!.map(([path, value]) => [value, path]));
  expect(held!.filter(([, value]) => known.has(value))).toEqual([]);
  for (const own of people)
    expect(new Map([...held!, ...others!].map(([path, value]) => [value, path])).has(own)).toBe(false);
});

test("no order that both read gives people away", async () => {
  const { rows } = await service.db.pool.query<{ id: string; record_id: string }>(
    "SELECT id, record_id FROM pairwise_id WHERE record_id = person_id",
  );
  const of = new Set<string>(people);
  const personOf = new Map(rows.map(({ id, record_id }) => [id, record_id]));
  for (const path of [
    `${idm}/schools/${school}/users`,
    `${idm}/schools/${school}/people`,
    `${schulconnex}/personen-info`,
    `${schulconnex}/personen-info?gruppe.id=${group}`,
  ]) {
    const orders = [];
    for (const { read } of apps) {
      const body = (await read(path)).body as { id?: string; pid?: string }[];
      orders.push(body.map(({ id, pid }) => personOf.get(id ?? pid!)!).filter((person) => of.has(person)));
    }
    const [held, others] = orders;
    expect(new Set(held)).toEqual(new Set(others));
    expect(held!.filter((person, place) => others![place] === person).length).toBeLessThan(12);
  }
});

test("an id of another app and the service's own are like one that never was", async () => {
  const [app, other] = apps as [App, App];
  const [{ id }] = (await other.read(`${idm}/schools/${school}/users`)).body as [Listed];
  const never = "00000000-0000-4000-8000-000000000000";
  for (const path of [`${idm}/users/`, `${idm}/people/`, `${schulconnex}/personen-info?pid=`]) {
    const unknown = await app.read(path + never);
    for (const wrong of [id, people[5]!]) {
      const { status, body } = await app.read(path + wrong);
      expect([status, JSON.stringify(body).replace(/"requestId":"[^"]*"/, "")]).toEqual([
        unknown.status,
        JSON.stringify(unknown.body).replace(/"requestId":"[^"]*"/, ""),
      ]);
    }
  }
});

test("what staff see of an app's view has its ids, by whichever person they ask", async () => {
  const [app] = apps as [App];
  const operator = await makeStaff(service, "OPERATOR");
  const view = async (resource: string, id?: string) => {
    const path = `/schools/${school}/apps/${app.clientId}/view?resource=${resource}${id === undefined ? "" : `&id=${id}`}`;
    const { status, body } = await operator.call("GET", path);
    expect([status, path]).toEqual([200, path]);
    return JSON.parse((body as { body: string }).body) as Listed | Listed[];
  };
  const listed = (await app.read(`${idm}/schools/${school}/people`)).body;
  expect(await view("people")).toEqual(listed);
  const { id } = (await view("person", people[7]!)) as Listed;
  expect(id).not.toBe(people[7]);
  expect(await view("person", people[7]!)).toEqual((await app.read(`${idm}/people/${id}`)).body);
  const other = await make.school();
  await make.grant({ app: app.clientId, school: other });
  const atBoth = await make.person({ schools: [school as never, other], groups: [group as never] });
  const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school as never] });
  const { body } = await admin.call("GET", `/schools/${school}/apps/${app.clientId}/view?resource=people`);
  const shown = body as { leftOut: number; body: string };
  const left = (await view("person", atBoth)) as Listed;
  expect([shown.leftOut, shown.body.includes(left.id)]).toEqual([1, false]);
});

test("a partner looks at the view of an app by its ids, and learns none of them by another id", async () => {
  const [app, other] = apps as [App, App];
  const partner = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  const view = async (resource: string, id: string) => {
    const path = `/schools/${school}/apps/${app.clientId}/view?resource=${resource}&id=${id}`;
    const { status, body } = await partner.call("GET", path);
    return [
      status,
      JSON.stringify(body)
        .replaceAll(/"requestId":"[^"]*"/g, "")
        .replaceAll(id, "ID"),
    ];
  };
  const [[{ id: own }], [{ id: others }]] = (await Promise.all(
    [app, other].map(async ({ read }) => (await read(`${idm}/schools/${school}/people`)).body),
  )) as [[Listed], [Listed]];
  for (const resource of ["user", "person"]) {
    const unknown = await view(resource, "00000000-0000-4000-8000-000000000000");
    expect(unknown[0]).toBe(404);
    for (const wrong of [people[9]!, others]) expect(await view(resource, wrong)).toEqual(unknown);
    expect(await view(resource, own)).toEqual([200, expect.stringContaining(`"status":200`)]);
  }
});

test("people of a sandbox are named by the app's ids", async () => {
  const [app] = apps as [App];
  const partner = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  const { body } = await partner.call("POST", `/apps/${app.clientId}/sandboxes`);
  const { accounts } = body as { accounts: { personId: string; kind: string }[] };
  const shown = accounts.filter(({ kind }) => kind === "PUPIL" || kind === "TEACHER");
  expect(shown.length).toBeGreaterThan(0);
  for (const { personId } of shown)
    expect(await app.read(`${idm}/users/${personId}`)).toMatchObject({ status: 200, body: { id: personId } });
  const path = `${idm}/users/${shown[0]!.personId}`;
  const answer = await partner.call("GET", `/apps/${app.clientId}/answer?path=${encodeURIComponent(path)}`);
  expect(answer.body).toMatchObject({ status: 200, body: expect.stringContaining(shown[0]!.personId) as string });
});

test("a logout token names the person and the session as the app knows them", async () => {
  const [app] = apps as [App];
  const browser = makeBrowser(service.url);
  const { id_token } = await getUserTokens(service, app, logins[0]!, { browser });
  const claims = decodeJwt(id_token!);
  const page = await browser.open(
    `${service.url}/oauth2/sessions/logout?${new URLSearchParams({ id_token_hint: id_token! }).toString()}`,
  );
  await browser.submit(page, "/confirm", { logout: "yes" });
  await service.runJob("sign-on.tellLogouts");
  const sent = app.receiver.received.filter(({ path }) => path === "/logout");
  const told = decodeJwt(new URLSearchParams(sent.at(-1)!.body).get("logout_token")!);
  expect(told).toMatchObject({ sub: claims.sub, sid: claims["sid"] });
});

test("an app in a move and after it is answered the ids of others, and its own that are not valid, like none", async () => {
  const [other] = apps as [App];
  const { body: others } = await other.read(`${idm}/schools/${school}/users`);
  const receiver = await startReceiver();
  const made = await make.app({ scopes: ["openid", ...idmScopes] });
  const app: App = { ...made, receiver, read: await getReader(service, made) };
  await make.grant({ app: app.clientId, school: school as never, groups: [group as never] });
  const { call: partner } = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  const path = `/apps/${app.clientId}/id-move`;
  await partner("POST", path, { body: { subjectType: "APP" } });
  await service.runJob("access.moveIds");
  const newcomer = await make.person({ school: school as never, groups: [group as never] });
  type Changed = { oldId: string; newId: string };
  const [changed] = (await app.read(`${idm}/identifier-changes`)).body as [Changed];
  const never = "00000000-0000-4000-8000-000000000000";
  const expectUnknown = async (wrong: string) => {
    for (const place of [`${idm}/users/`, `${idm}/people/`, `${schulconnex}/personen-info?pid=`]) {
      const [unknown, asked] = [await app.read(place + never), await app.read(place + wrong)];
      const text = ({ body }: typeof asked) => JSON.stringify(body).replace(/"requestId":"[^"]*"/, "");
      expect([asked.status, text(asked)], place + wrong).toEqual([unknown.status, text(unknown)]);
    }
    expect((await app.read(`${idm}/identifier-changes?id=${(others as Listed[])[0]!.id}`)).body).toEqual([]);
  };
  for (const wrong of [(others as Listed[])[0]!.id, newcomer, changed.newId]) await expectUnknown(wrong);
  expect(await app.read(`${idm}/users/${changed.oldId}`)).toMatchObject({ status: 200 });
  expect(await partner("POST", `${path}/cut-over`)).toMatchObject({ status: 204 });
  for (const wrong of [(others as Listed[])[0]!.id, newcomer, changed.oldId]) await expectUnknown(wrong);
  expect(await app.read(`${idm}/users/${changed.newId}`)).toMatchObject({ status: 200 });
  const { body } = await app.read(`${idm}/schools/${school}/users`);
  const known = new Set([...(others as Listed[]).map(({ id }) => id), ...people, newcomer]);
  expect((body as Listed[]).filter(({ id }) => known.has(id))).toEqual([]);
});

test("a person who is deleted for good leaves no id behind", async () => {
  const { rows } = await service.db.pool.query(
    "SELECT FROM pairwise_id WHERE NOT EXISTS (SELECT FROM person WHERE id = person_id)",
  );
  expect(rows).toEqual([]);
});
