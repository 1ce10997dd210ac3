import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { type AppUpdate, type NewApp, type ScopeName, updateApp } from "../../../src/access/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { makeStaff } from "../../support/admin.ts";
import { makeBrowser } from "../../support/browser.ts";
import { setUpTotp } from "../../support/second-factor.ts";
import { askFor, basic, exchange, giveLogin, postToken, signOn, type TestApp } from "../../support/token.ts";
import { startWorld } from "./world.ts";

type Attempt = components["schemas"]["SignOnAttempt"];

const world = startWorld();
const scopes: ScopeName[] = ["openid", "offline_access", "profile", "schools:read", "users:read", "people:read"];
const makeApp = (wishes: Partial<NewApp> = {}) => world.app({ scopes, scopePlatform: "old", ...wishes });
const of = (platform: string, name: string) => `urn:${platform}:idm:v1:${name}`;

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
  const [people, users] = [of("old", "people:read"), of("schultor", "users:read")];
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
  const otherName = await refresh(app, narrowed.refresh_token!, of("schultor", "people:read"));
  expect(otherName.error).toBe("invalid_scope");
  expect((await refresh(app, narrowed.refresh_token!)).scope).toBe(scope);
});

test("the person agrees to a scope once, whichever name the app writes", async () => {
  const { service, login } = world;
  const app = await makeApp();
  const browser = makeBrowser(service.url);
  const asked = (platform: string, params = {}) =>
    askFor(service, app, { params: { scope: `openid ${of(platform, "people:read")}`, ...params } }).address;
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
  const [old, own] = [of("old", "people:read"), of("schultor", "people:read")];
  expect(await linesOf(old, own)).toBe(await linesOf(old));
});

test("a token of the app itself has the names that were asked, and the service's own without scope", async () => {
  const app = await makeApp({ defaultScopes: ["schools:read"] });
  const [schools, users] = [of("old", "schools:read"), of("schultor", "users:read")];
  for (const scope of [schools, `${schools} ${users}`]) {
    const body = await ask(app, scope);
    expect([body.scope, (await introspect(app, body.access_token)).scope]).toEqual([scope, scope]);
    expect(await readSchools(body.access_token)).toBe(200);
  }
  const unasked = await ask(app);
  expect(unasked.scope).toBe(of("schultor", "schools:read"));
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
    Promise.all(["old", "older", "schultor"].map(async (name) => (await ask(app, of(name, "users:read"))).error));
  const wrong = "invalid_scope";
  expect(await answers(one)).toEqual([undefined, wrong, undefined]);
  expect(await answers(two)).toEqual([wrong, undefined, undefined]);
  expect(await answers(none)).toEqual([wrong, wrong, undefined]);

  const scope = of("old", "users:read");
  const { address } = askFor(service, none, { params: { scope: `openid ${scope}` } });
  const back = new URL((await fetch(address, { redirect: "manual" })).headers.get("location")!);
  expect(Object.fromEntries(back.searchParams)).toMatchObject({
    error: wrong,
    error_description: `there is no scope ${scope}`,
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
  const scope = ["openid", "offline_access", of("old", "people:read")].join(" ");
  const { body } = await exchange(service, app, await signOn(service, app, login, { params: { scope } }));
  const own = await ask(app, of("old", "schools:read"));
  await change(app, { scopePlatform: null });
  expect((await ask(app, of("old", "schools:read"))).error).toBe("invalid_scope");
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
