import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { scopeNames, updateApp, type AppUpdate, type NewApp, type ScopeName } from "../../../src/access/index.ts";
import { readConfig } from "../../../src/config/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { reEncryptSecrets } from "../../../src/sign-on/index.ts";
import { loadSharedSecrets } from "../../../src/sign-on/protocol/keys/shared-secrets.ts";
import { makePseudonym } from "../../../src/accounts/pseudonym.ts";
import { makeBrowser } from "../../support/browser.ts";
import {
  askFor,
  basic,
  exchange,
  getUserTokens,
  giveLogin,
  postToken,
  signOn,
  type TestApp,
} from "../../support/token.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff } from "../../support/admin.ts";
import { setUpTotp } from "../../support/second-factor.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
const everyScope = scopeNames.filter((scope) => !scope.startsWith("admin:"));
const own = new Set(["school_name", "school_official_id", "school_location", "school_address", "schooling_level"]);
const address = { address: "Seestraße 3", addressAddition: null, city: "Stade", zipCode: "21680" };

let count = 0;

async function makePupil() {
  const { service, make } = world;
  const school = await make.school({
    name: "Schule am See",
    officialId: `DE-NI-77${++count}`,
    address,
    schoolingLevel: "GYMNASIUM",
  });
  const app = await make.app({ scopes: everyScope });
  await make.grant({ app: app.clientId, school });
  const person = await make.person({ school });
  return { school, app, person, login: await giveLogin(service.db, person) };
}

test("each fine scope brings its own claim alone, in the ID token and at userinfo, and school its own five", async () => {
  const { service } = world;
  const { school, app, login } = await makePupil();
  const claimsOf = async (scope: ScopeName) => {
    const tokens = await getUserTokens(service, app, login, { scopes: ["openid", scope] });
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    const userinfo = (await (await fetch(`${service.url}/oauth2/userinfo`, { headers })).json()) as object;
    const all: Record<string, unknown> = decodeJwt(tokens.id_token!);
    const said = Object.fromEntries(Object.entries(all).filter(([name]) => /^school|pseudonym/.test(name)));
    expect(userinfo).toEqual({ sub: all["sub"], ...said });
    expect(tokens.scope).toBe(`openid ${scope}`);
    return said;
  };
  const schoolClaims = {
    school_name: "Schule am See",
    school_official_id: expect.stringMatching(/^DE-NI-77/),
    school_location: { country: "DE", state: "NI" },
    schooling_level: "GYMNASIUM",
  };
  for (const [name, value] of Object.entries({ ...schoolClaims, school_address: address }))
    expect(await claimsOf(name as ScopeName)).toEqual({ [name]: value });
  expect(await claimsOf("school")).toEqual({ school, ...schoolClaims });
  expect(await claimsOf("pseudonym")).toEqual({ pseudonym: expect.stringMatching(/^[A-Z][a-z]+ [A-Z][a-z]+$/) });
});

test("a pseudonym stays the same, differs between apps, and outlives a new encryption key", async () => {
  const { service, make } = world;
  const { school, app, login, person } = await makePupil();
  // Of two apps, one person in 103,850 has the same.
  const others = [await make.app({ scopes: everyScope }), await make.app({ scopes: everyScope })];
  for (const { clientId } of others) await make.grant({ app: clientId, school });
  const ask = async (asked: typeof app) => {
    const { id_token: token } = await getUserTokens(service, asked, login, { scopes: ["openid", "pseudonym"] });
    return decodeJwt(token!)["pseudonym"] as string;
  };
  const first = await ask(app);
  await make.membership({ group: await make.group({ school }), person });
  expect(await ask(app)).toBe(first);
  const all = [first, await ask(others[0]!), await ask(others[1]!)];
  expect(new Set(all).size).toBeGreaterThan(1);

  const { encryptionKeys: oldKeys } = readConfig({ NODE_ENV: "test" });
  const newKeys = [Buffer.alloc(32, 7)];
  await reEncryptSecrets({ db: service.db, keys: [...newKeys, ...oldKeys], now: service.clock() });
  const { pseudonyms } = await loadSharedSecrets(service.db, newKeys, service.clock());
  expect(makePseudonym(pseudonyms, { clientId: app.clientId, personId: person })).toBe(first);
  await reEncryptSecrets({ db: service.db, keys: [...oldKeys, ...newKeys], now: service.clock() });
});

test("pseudonyms of one app are spread over the words, and those of two apps have nothing to do with each other", () => {
  const key = Buffer.alloc(32, 1);
  const of = (clientId: string, n: number) =>
    makePseudonym(key, { clientId, personId: String(n) } as Parameters<typeof makePseudonym>[1]);
  const people = Array.from({ length: 3000 }, (_, n) => n);
  expect(new Set(people.map((n) => of("one", n))).size).toBeGreaterThan(2900);
  expect(people.filter((n) => of("one", n) === of("two", n)).length).toBeLessThan(5);
  expect(people.filter((n) => of("one", n).split(" ")[0] === of("two", n).split(" ")[0]).length).toBeLessThan(40);
});

test("the consent shows the value of each fine scope", async () => {
  const { service } = world;
  const { app, login } = await makePupil();
  const scopes = ["openid", "pseudonym", ...own] as ScopeName[];
  const itemsOf = async (language: string) => {
    const browser = makeBrowser(service.url, { "accept-language": language });
    const { html } = await browser.submit(
      await browser.open(askFor(service, app, { scopes }).address),
      "/login",
      login,
    );
    return [...html.matchAll(/<li[^>]*><strong>([^<]*)<\/strong> <span>([^<]*)<\/span>/g)].map(
      ([, name, value]) => `${name}: ${value}`,
    );
  };
  expect(await itemsOf("de")).toEqual([
    expect.stringMatching(/^Ein ausgedachter Name: [A-Z][a-z]+ [A-Z][a-z]+$/),
    "Der Name deiner Schule: Schule am See",
    expect.stringMatching(/^Die Nummer deiner Schule: DE-NI-77/),
    "Das Bundesland deiner Schule: Niedersachsen",
    "Die Anschrift deiner Schule: Seestraße 3, 21680 Stade",
    "Deine Schulform: Gymnasium",
    expect.stringContaining("Dass du es bist"),
  ]);
  expect((await itemsOf("en")).slice(3, 6)).toEqual([
    "Your school’s state: Lower Saxony",
    "Your school’s address: Seestraße 3, 21680 Stade",
    "Your school’s type: Gymnasium",
  ]);
});

test("email, phone and address are ignored in every grant, and the answer does not name them", async () => {
  const { service } = world;
  const { app, login } = await makePupil();
  const params = { scope: "openid email phone role address offline_access" };
  const code = await signOn(service, app, login, { params });
  const { body } = await exchange(service, app, code);
  expect(body.scope).toBe("openid role offline_access");
  const fields = { grant_type: "refresh_token", refresh_token: body.refresh_token! };
  expect((await postToken(service, app, { ...fields, scope: "openid email" })).body.scope).toBe("openid");
  const credentials = { grant_type: "client_credentials", scope: "email urn:schultor:idm:v1:schools:read" };
  expect((await postToken(service, app, credentials)).body.scope).toBe("urn:schultor:idm:v1:schools:read");
  const alone = await postToken(service, app, { grant_type: "client_credentials", scope: "address" });
  expect([alone.status, alone.body.scope]).toEqual([200, ""]);
});

test.each([
  ["openid e-mail", "there is no scope e-mail"],
  ["openid people:read", "there is no scope people:read: did you mean urn:schultor:idm:v1:people:read?"],
  ["idm:v1:user:read", "there is no scope idm:v1:user:read: did you mean urn:schultor:idm:v1:users:read?"],
  [
    "urn:other:idm:v1:groups:read",
    "there is no scope urn:other:idm:v1:groups:read: did you mean urn:schultor:idm:v1:groups:read?",
  ],
  [
    "urn:SCHULTOR:idm:v1:groups:read",
    "there is no scope urn:SCHULTOR:idm:v1:groups:read: did you mean urn:schultor:idm:v1:groups:read?",
  ],
  ["OpenID", "there is no scope OpenID: did you mean openid?"],
  ["openid offline-access", "there is no scope offline-access: did you mean offline_access?"],
  ["openid,profile", "there is no scope openid,profile: scopes are separated by spaces"],
  ["openid+profile", "there is no scope openid+profile: scopes are separated by spaces"],
  ["openid%20profile", "there is no scope openid%20profile: scopes are separated by spaces"],
  ["openid urn:schultor:admin:v1:read", "the app was not granted the scope urn:schultor:admin:v1:read"],
  ['openid "quoted"', "scope contains invalid characters"],
])("a wrong scope is named: %s", async (scope, description) => {
  const { service } = world;
  const { app } = await makePupil();
  const { address: asked } = askFor(service, app, { params: { scope } });
  const to = new URL((await fetch(asked, { redirect: "manual" })).headers.get("location")!);
  expect([to.searchParams.get("error"), to.searchParams.get("error_description")]).toEqual([
    "invalid_scope",
    description,
  ]);
  const { body } = await postToken(service, app, { grant_type: "client_credentials", scope });
  expect(body).toEqual({
    error: "invalid_scope",
    error_description: description,
    error_uri: `${world.service.url}/docs/errors/invalid_scope`,
  });
});

test("a token of an app that asks for no scope gets the default scopes of its registration, as far as it has them", async () => {
  const { service, make } = world;
  const scopes: ScopeName[] = ["schools:read", "users:read"];
  const app = await make.app({ scopes, defaultScopes: ["schools:read"] });
  const ask = async (fields: Record<string, string> = {}) => {
    const { body } = await postToken(service, app, { grant_type: "client_credentials", ...fields });
    const headers = { authorization: `Bearer ${body.access_token}` };
    const { status } = await fetch(`${service.url}/idm/ep/v1/schools`, { headers });
    return [body.scope, status];
  };
  const [read, users] = ["urn:schultor:idm:v1:schools:read", "urn:schultor:idm:v1:users:read"];
  expect(await ask()).toEqual([read, 200]);
  expect(await ask({ scope: "" })).toEqual([read, 200]);
  expect(await ask({ scope: users })).toEqual([users, 403]);
  const change = (wishes: { scopes?: ScopeName[]; defaultScopes?: ScopeName[] }) =>
    withPrismaTransaction(service.db, (tx) =>
      updateApp(tx, { clientId: app.clientId, ...wishes }, { at: service.clock(), allowLoopbackHttp: true }),
    );
  await change({ scopes: ["users:read"] });
  expect(await ask()).toEqual(["", 403]);
  await change({ defaultScopes: ["users:read"] });
  expect(await ask()).toEqual([users, 403]);
});

type Attempt = components["schemas"]["SignOnAttempt"];

const scopes: ScopeName[] = ["openid", "offline_access", "profile", "schools:read", "users:read", "people:read"];
const makeApp = (wishes: Partial<NewApp> = {}) => world.app({ scopes, scopePlatform: "old", ...wishes });
const urnOf = (platform: string, name: string) => `urn:${platform}:idm:v1:${name}`;

async function introspect(app: TestApp, token: string) {
  const body = new URLSearchParams({ token });
  const response = await fetch(`${world.service.url}/oauth2/introspect`, { method: "POST", headers: basic(app), body });
  return (await response.json()) as { active: boolean; scope?: string };
}

async function readSchools(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${world.service.url}/idm/ep/v1/schools`, { headers })).status;
}

const ask = async (app: TestApp, scope?: string) => {
  const fields = { grant_type: "client_credentials", ...(scope !== undefined && { scope }) };
  return (await postToken(world.service, app, fields)).body;
};

const refresh = async (app: TestApp, token: string, scope?: string) =>
  (await postToken(world.service, app, { grant_type: "refresh_token", refresh_token: token, ...(scope && { scope }) }))
    .body;

const change = ({ clientId }: TestApp, update: Omit<AppUpdate, "clientId">) =>
  withPrismaTransaction(world.service.db, (tx) =>
    updateApp(tx, { clientId, ...update }, { at: world.service.clock(), allowLoopbackHttp: true }),
  );

test("a person signs in with scopes of both names, and every answer names each as it was asked", async () => {
  const { service, login } = world;
  const app = await makeApp();
  const [people, users] = [urnOf("old", "people:read"), urnOf("schultor", "users:read")];
  const scope = `openid offline_access ${people} ${users}`;
  const first = await signOn(service, app, login, { params: { scope } });
  const { body } = await exchange(service, app, first);
  expect(body.scope).toBe(scope);
  for (const token of [body.access_token, body.refresh_token!])
    expect(await introspect(app, token)).toMatchObject({ active: true, scope });
  const headers = { authorization: `Bearer ${body.access_token}` };
  expect((await fetch(`${service.url}/oauth2/userinfo`, { headers })).status).toBe(200);
  expect((await fetch(`${service.url}/idm/schulconnex/v1/person-info`, { headers })).status).toBe(200);

  const whole = await refresh(app, body.refresh_token!);
  expect(whole.scope).toBe(scope);
  const narrowed = await refresh(app, whole.refresh_token!, people);
  expect([narrowed.scope, (await introspect(app, narrowed.access_token)).scope]).toEqual([people, people]);
  const otherName = await refresh(app, narrowed.refresh_token!, urnOf("schultor", "people:read"));
  expect(otherName.error).toBe("invalid_scope");
  expect((await refresh(app, narrowed.refresh_token!)).scope).toBe(scope);
});

test("the person agrees to a scope once, whichever name the app writes", async () => {
  const { service, login } = world;
  const app = await makeApp();
  const browser = makeBrowser(service.url);
  const asked = (platform: string, params = {}) =>
    askFor(service, app, { params: { scope: `openid ${urnOf(platform, "people:read")}`, ...params } }).address;
  const page = await browser.submit(await browser.open(asked("old")), "/login", login);
  expect(page.html).toContain("/consent");
  const silent = new URL((await browser.open(asked("old", { prompt: "none" }))).url);
  expect(silent.searchParams.get("error")).toBe("consent_required");
  await browser.submit(page, "/consent");
  for (const platform of ["old", "schultor"]) {
    const back = new URL((await browser.open(asked(platform, { prompt: "none" }))).url);
    expect([platform, back.searchParams.get("code")]).toEqual([platform, expect.any(String)]);
  }
});

test("the same scope under both names is one line of the consent", async () => {
  const { service, login } = world;
  const app = await makeApp();
  const browser = makeBrowser(service.url);
  const linesOf = async (...names: string[]) => {
    const { address } = askFor(service, app, { params: { scope: ["openid", ...names].join(" "), prompt: "login" } });
    const { html } = await browser.submit(await browser.open(address), "/login", login);
    return [...html.matchAll(/<li[^>]*><strong>/g)].length;
  };
  const [old, own] = [urnOf("old", "people:read"), urnOf("schultor", "people:read")];
  expect(await linesOf(old, own)).toBe(await linesOf(old));
});

test("a token of the app itself has the names that were asked, and the service's own without scope", async () => {
  const app = await makeApp({ defaultScopes: ["schools:read"] });
  const [schools, users] = [urnOf("old", "schools:read"), urnOf("schultor", "users:read")];
  for (const scope of [schools, `${schools} ${users}`]) {
    const body = await ask(app, scope);
    expect([body.scope, (await introspect(app, body.access_token)).scope]).toEqual([scope, scope]);
    expect(await readSchools(body.access_token)).toBe(200);
  }
  const unasked = await ask(app);
  expect(unasked.scope).toBe(urnOf("schultor", "schools:read"));
  const before = await ask(app, schools);
  await change(app, { scopes: ["users:read"] });
  expect(await readSchools(before.access_token)).toBe(403);
  expect(await ask(app, schools)).toMatchObject({
    error: "invalid_scope",
    error_description: `the app was not granted the scope ${schools}`,
  });
});

test("each app has its own second name, and another name is an unknown scope for it", async () => {
  const { service } = world;
  const [one, two, none] = [
    await makeApp(),
    await makeApp({ scopePlatform: "older" }),
    await makeApp({ scopePlatform: null }),
  ];
  const answers = async (app: TestApp) =>
    Promise.all(["old", "older", "schultor"].map(async (name) => (await ask(app, urnOf(name, "users:read"))).error));
  const wrong = "invalid_scope";
  expect(await answers(one)).toEqual([undefined, wrong, undefined]);
  expect(await answers(two)).toEqual([wrong, undefined, undefined]);
  expect(await answers(none)).toEqual([wrong, wrong, undefined]);

  const scope = urnOf("old", "users:read");
  const { address } = askFor(service, none, { params: { scope: `openid ${scope}` } });
  const back = new URL((await fetch(address, { redirect: "manual" })).headers.get("location")!);
  expect(Object.fromEntries(back.searchParams)).toMatchObject({
    error: wrong,
    error_description: `there is no scope ${scope}: did you mean urn:schultor:idm:v1:users:read?`,
    scope,
  });
  expect(await ask(two, "openid urn:older:idm:v1:no-such")).toMatchObject({ error: wrong });
  const discovery = await fetch(`${service.url}/.well-known/openid-configuration`);
  expect(await discovery.text()).not.toContain("urn:old");
});

test("the inspector of an app says that another platform name must be registered", async () => {
  const { service } = world;
  const app = await makeApp();
  const { call } = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  const { address } = askFor(service, app, { params: { scope: "openid urn:older:idm:v1:users:read" } });
  await fetch(address, { redirect: "manual" });
  await ask(app, "urn:older:idm:v1:users:read");
  await ask(app, "urn:old:idm:v1:groups:read");
  await service.runJob("traffic.flushLogs");
  const attempts = (await call("GET", `/apps/${app.clientId}/sign-on-attempts`)).body as Attempt[];
  const said = attempts.flatMap(({ steps }) =>
    steps.flatMap(({ sent }) => sent?.find(({ name }) => name === "scope") ?? []),
  );
  expect(said.map(({ problem }) => problem).sort()).toEqual(["scope_not_given", "scope_platform", "scope_platform"]);
  expect(said.find(({ problem }) => problem === "scope_platform")!.advice).toContain("second platform name");
});

test("what was issued stays valid with its names when the app loses its second name", async () => {
  const { service, login } = world;
  const app = await makeApp();
  const scope = ["openid", "offline_access", urnOf("old", "people:read")].join(" ");
  const { body } = await exchange(service, app, await signOn(service, app, login, { params: { scope } }));
  const own = await ask(app, urnOf("old", "schools:read"));
  await change(app, { scopePlatform: null });
  expect((await ask(app, urnOf("old", "schools:read"))).error).toBe("invalid_scope");
  expect(await readSchools(own.access_token)).toBe(200);
  expect((await refresh(app, body.refresh_token!)).scope).toBe(scope);
});

test("a scope of the admin API needs the second factor under the second name too", async () => {
  const { service, make, school } = world;
  const login = await giveLogin(service.db, await make.person({ school }));
  const browser = makeBrowser(service.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  await setUpTotp(browser, service.clock);
  const app = await makeApp({ scopes: ["openid", "admin:read"] });
  const { address } = askFor(service, app, { params: { scope: "openid urn:old:admin:v1:read" } });
  const fresh = makeBrowser(service.url);
  const page = await fresh.submit(await fresh.open(address), "/login", login);
  expect(page.html).toMatch(/action="\/interaction\/[^"]+\/second-factor"/);
});
