import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { type ScopeName, scopeNames, updateApp } from "../../../src/access/index.ts";
import { readConfig } from "../../../src/config/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { reEncryptSecrets } from "../../../src/sign-on/index.ts";
import { loadSharedSecrets } from "../../../src/sign-on/protocol/keys/shared-secrets.ts";
import { makePseudonym } from "../../../src/accounts/pseudonym/index.ts";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, exchange, getUserTokens, giveLogin, postToken, signOn } from "../../support/token.ts";
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
