import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { purgePerson, softDeletePerson, type PersonId } from "../../../src/directory/index.ts";
import { makeAdminClient, makeStaff, refusalOf } from "../../support/admin.ts";
import { makeBrowser, type Browser } from "../../support/browser.ts";
import { giveRoleTo } from "../../support/portal.ts";
import { makeMakers } from "../../support/make.ts";
import { confirmPath, setUpTotp, totpCode } from "../../support/second-factor.ts";
import { makeTestClock, startService, type TestService } from "../../support/service.ts";
import { askFor, exchange, getUserTokens, giveLogin, postToken, signOn, type Login } from "../../support/token.ts";
import { testDatabase } from "../../support/database.ts";
import { changeDirectory, type ScopeName } from "../../../src/access/index.ts";
import { forgetPerson } from "../../../src/accounts/index.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";

hashAllQuickly();
const clock = makeTestClock();
const db = await testDatabase();
const offered = await startService({ clock, db });
const required = await startService({ clock, db, env: { STAFF_SECOND_FACTOR: "required" } });
const make = makeMakers(db);
const school = await make.school();
const scopes = ["openid", "admin:read", "offline_access"] as const;
const app = await make.app({ scopes: ["openid", "offline_access", "admin:read", "admin:write"] });
await make.grant({ app: app.clientId, school });

async function makeAdmin(): Promise<{ personId: PersonId; login: Login }> {
  const personId = await make.person({ school, role: "TEACHER" });
  await giveRoleTo(offered, personId, "SCHOOL_ADMIN", { schoolIds: [school] });
  return { personId, login: await giveLogin(db, personId) };
}

async function signIn(service: TestService, login: Login): Promise<Browser> {
  const browser = makeBrowser(service.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  return browser;
}

async function enrol(service: TestService, login: Login) {
  const browser = await signIn(service, login);
  const { secret } = await setUpTotp(browser, clock);
  clock.forwardSeconds(30);
  return { browser, next: () => totpCode(secret, clock()) };
}

const me = (service: TestService, token: string) => makeAdminClient(service, token)("GET", "/me");
const forbidden = [403, "insufficient_scope"];

test("who has a second factor is asked for it when an app asks for a scope of the admin API, and only then", async () => {
  const { login } = await makeAdmin();
  const { next } = await enrol(offered, login);
  const plain = await getUserTokens(offered, app, login, { scopes: ["openid"] });
  expect(decodeJwt(plain.id_token!)).not.toHaveProperty("amr");

  const { browser } = plain;
  const asked = askFor(offered, app, { scopes });
  const page = await browser.open(asked.address);
  expect(page.html).toMatch(/action="\/interaction\/[^"]+\/second-factor"/);
  const wrong = await browser.submit(page, "/second-factor", { code: "000000" });
  expect(wrong.status).toBe(422);
  const consent = await browser.submit(wrong, "/second-factor", { code: next() });
  const back = new URL((await browser.submit(consent, "/consent")).url);
  const { body } = await exchange(offered, app, { browser, asked, back });
  expect(decodeJwt(body.id_token!)).toMatchObject({ amr: ["pwd", "otp", "mfa"] });
  expect((await me(offered, body.access_token)).status).toBe(200);
  expect((await me(required, body.access_token)).status).toBe(200);

  const { body: refreshed } = await postToken(offered, app, {
    grant_type: "refresh_token",
    refresh_token: body.refresh_token!,
  });
  expect(decodeJwt(refreshed.id_token!)).toMatchObject({ amr: ["pwd", "otp", "mfa"] });
  expect((await me(required, refreshed.access_token)).status).toBe(200);
});

test("a session made with the second factor at the platform is enough", async () => {
  const { login } = await makeAdmin();
  const { next } = await enrol(offered, login);
  const browser = makeBrowser(offered.url);
  const asked = await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  await browser.submit(asked, confirmPath, { code: next() });
  const tokens = await getUserTokens(offered, app, login, { scopes, browser });
  expect((await me(offered, tokens.access_token)).status).toBe(200);
});

test("no page may be shown: the app is told that one is needed", async () => {
  const { login } = await makeAdmin();
  await enrol(offered, login);
  const { browser } = await getUserTokens(offered, app, login, { scopes: ["openid"] });
  const { back } = await signOn(offered, app, login, { scopes, browser, params: { prompt: "none" } });
  expect(back.searchParams.get("error")).toBe("interaction_required");
  expect(back.searchParams.get("code")).toBeNull();
});

test("what was issued before the second factor was set up is of no use for the admin API, nor exchanged or renewed", async () => {
  const { login } = await makeAdmin();
  const tokens = await getUserTokens(offered, app, login, { scopes });
  const waiting = await signOn(offered, app, login, { scopes, browser: tokens.browser });
  expect(waiting.back.searchParams.get("code")).not.toBeNull();
  expect((await me(offered, tokens.access_token)).status).toBe(200);
  await enrol(offered, login);

  expect(refusalOf(await me(offered, tokens.access_token))).toEqual(forbidden);
  expect((await exchange(offered, app, waiting)).body.error).toBe("invalid_grant");
  const renewed = await postToken(offered, app, { grant_type: "refresh_token", refresh_token: tokens.refresh_token! });
  expect(renewed.body.error).toBe("invalid_grant");
});

test("required: who has none sets one up and comes back; a token without one is refused", async () => {
  const { login } = await makeAdmin();
  const tokens = await getUserTokens(offered, app, login, { scopes });
  expect(refusalOf(await me(required, tokens.access_token))).toEqual(forbidden);

  const browser = await signIn(required, login);
  const asked = askFor(required, app, { scopes });
  const page = await browser.open(asked.address);
  const [, setUp] = /href="(\/sign-in\/second-factor\?return=[^"]+)"/.exec(page.html)!;
  const again = await browser.submit(page, "/second-factor");
  expect(again.html).toContain(setUp);
  const next = new URL(setUp!, required.url).searchParams.get("return")!;
  const { shown } = await setUpTotp(browser, clock, { next });
  expect(shown.html).toContain(`href="${next}"`);
  const consented = await browser.submit(await browser.open(next), "/second-factor");
  const back = new URL(consented.url);
  expect(back.searchParams.get("code")).not.toBeNull();
  const { body } = await exchange(required, app, { browser, asked, back });
  expect((await me(required, body.access_token)).status).toBe(200);
});

test("required: an app that works as itself needs none", async () => {
  const { call } = await makeStaff(required, "OPERATOR");
  expect((await call("GET", "/me")).status).toBe(200);
});

const officeScopes: ScopeName[] = ["openid", "offline_access", "admin:read", "admin:write"];
const office = await make.app({ scopes: [...officeScopes, "school", "profile", "role"] });
const learning = await make.app({ scopes: ["openid", "profile"] });
await make.grant({ app: learning.clientId, school });
const operator = await makeStaff(offered, "OPERATOR");

let made = 0;

/** Somebody at no school with a role. */
async function makeAccount(role: object): Promise<{ personId: PersonId; login: Login }> {
  const body = { name: null, username: `account${(made += 1)}`, ...role };
  const created = await operator.call("POST", "/staff-people", { body });
  expect(created.status).toBe(201);
  const { personId } = created.body as { personId: PersonId };
  return { personId, login: await giveLogin(db, personId) };
}

const wire = (names: readonly ScopeName[]) => names.map((name) => name.replace(":", ":v1:"));
const adminScopesIn = (scope: string) => scope.split(" ").filter((one) => one.includes(":admin:"));
const call = (token: string) => makeAdminClient(offered, token);

test("an operator at no school signs in to the app of the staff, and works with the token", async () => {
  const { personId, login } = await makeAccount({ role: "OPERATOR" });
  const tokens = await getUserTokens(offered, office, login, { scopes: officeScopes });
  expect(adminScopesIn(tokens.scope)).toEqual(
    wire(["admin:read", "admin:write"]).map((scope) => `urn:schultor:${scope}`),
  );
  expect((await call(tokens.access_token)("GET", "/staff-people")).status).toBe(200);
  const body = { name: null, username: "made.by.operator", role: "PARTNER", clientIds: [learning.clientId] };
  const created = await call(tokens.access_token)("POST", "/staff-people", { body });
  expect(created.status).toBe(201);
  const { personId: other } = created.body as { personId: string };
  const line = await db.prisma.audit.findFirst({ where: { personId: other, action: "person_created" } });
  expect(line).toMatchObject({ actorId: `person:${personId}`, actorRole: "OPERATOR" });

  const refreshed = await postToken(offered, office, {
    grant_type: "refresh_token",
    refresh_token: tokens.refresh_token!,
  });
  expect((await call(refreshed.body.access_token)("GET", "/me")).body).toMatchObject({ personId });
});

test("a partner gets nothing of an operator", async () => {
  const { login } = await makeAccount({ role: "PARTNER", clientIds: [learning.clientId] });
  const { access_token } = await getUserTokens(offered, office, login, { scopes: officeScopes });
  expect((await call(access_token)("GET", `/apps/${learning.clientId}`)).status).toBe(200);
  expect(refusalOf(await call(access_token)("GET", "/staff-people"))).toEqual([403, "role_forbids"]);
  expect(refusalOf(await call(access_token)("GET", `/apps/${office.clientId}`))).toEqual([404, "app_not_found"]);
});

test("who only reads gets a token that only reads, and is asked for nothing more", async () => {
  const endsAt = new Date(clock().getTime() + 600_000).toISOString();
  const { personId, login } = await makeAccount({ role: "SUPPORT", schoolIds: [school], reason: "Ticket 17", endsAt });
  const tokens = await getUserTokens(offered, office, login, { scopes: officeScopes });
  expect(adminScopesIn(tokens.scope)).toEqual(["urn:schultor:admin:v1:read"]);
  expect((await call(tokens.access_token)("GET", `/schools/${school}`)).status).toBe(200);
  const change = await call(tokens.access_token)("PATCH", `/schools/${school}`, { body: { name: "Other" } });
  expect(refusalOf(change)).toEqual([403, "insufficient_scope"]);
  const consent = await db.prisma.consent.findFirstOrThrow({ where: { personId } });
  expect(consent.scopes).not.toContain("admin:write");
  const again = await getUserTokens(offered, office, login, { scopes: officeScopes, browser: tokens.browser });
  expect(adminScopesIn(again.scope)).toEqual(["urn:schultor:admin:v1:read"]);

  clock.forwardSeconds(601);
  await expect(getUserTokens(offered, office, login, { scopes: officeScopes })).rejects.toThrow("no tokens");
});

test("an app without scopes of the admin API refuses people at no school, on the page that says so", async () => {
  const { login } = await makeAccount({ role: "OPERATOR" });
  const browser = makeBrowser(offered.url);
  const page = await browser.open(askFor(offered, learning, { scopes: ["openid", "profile"] }).address);
  const refused = await browser.submit(page, "/login", login);
  expect([refused.status, refused.html.includes("/switch")]).toEqual([403, true]);
  expect(new URL(refused.url).pathname).toMatch(/^\/interaction\//);
});

test("a claim of the school is none, and no school is asked for", async () => {
  const { login } = await makeAccount({ role: "OPERATOR" });
  const { access_token } = await getUserTokens(offered, office, login, { scopes: ["openid", "school", "role"] });
  const headers = { authorization: `Bearer ${access_token}` };
  const userinfo = await fetch(`${offered.url}/oauth2/userinfo`, { headers });
  expect(await userinfo.json()).toMatchObject({ role: "OTHER", school: null });
});

test("a role that is withdrawn ends the token, and nobody without a role gets in", async () => {
  const { personId, login } = await makeAccount({ role: "OPERATOR" });
  const { access_token } = await getUserTokens(offered, office, login, { scopes: officeScopes });
  const { id } = await db.prisma.staffRole.findFirstOrThrow({ where: { personId } });
  expect((await operator.call("DELETE", `/staff-roles/${id}`)).status).toBe(204);
  expect((await call(access_token)("GET", "/me")).status).toBe(401);
  await expect(getUserTokens(offered, office, login, { scopes: officeScopes })).rejects.toThrow("no tokens");
});

test("the purge takes tokens, consents and sign-ins along", async () => {
  const { personId, login } = await makeAccount({ role: "OPERATOR" });
  const { access_token } = await getUserTokens(offered, office, login, { scopes: officeScopes });
  await changeDirectory(db, { at: clock() }, async (change) => {
    await softDeletePerson(change, { personId, restoreWindowDays: 0 });
    expect(await purgePerson(change, { personId, forget: forgetPerson })).toBe(true);
  });
  expect((await call(access_token)("GET", "/me")).status).toBe(401);
  const where = { where: { personId } };
  const left = [db.prisma.oidcArtifact.count(where), db.prisma.consent.count(where), db.prisma.signIn.count(where)];
  expect(await Promise.all(left)).toEqual([0, 0, 0]);
});
