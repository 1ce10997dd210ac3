import { expect, test } from "vitest";
import { changeDirectory, type ScopeName } from "../../../src/access/index.ts";
import { purgePerson, softDeletePerson, type PersonId } from "../../../src/directory/index.ts";
import { forgetPerson } from "../../../src/accounts/index.ts";
import { makeAdminClient, makeStaff, refusalOf } from "../../support/admin.ts";
import { makeBrowser } from "../../support/browser.ts";
import { testDatabase } from "../../support/database.ts";
import { makeMakers } from "../../support/make.ts";
import { setUpTotp } from "../../support/second-factor.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { askFor, exchange, getUserTokens, postToken, type Login } from "../../support/token.ts";

const clock = makeTestClock();
const db = await testDatabase();
const service = await startService({ clock, db });
const required = await startService({ clock, db, env: { STAFF_SECOND_FACTOR: "required" } });
const make = makeMakers(db);
const school = await make.school();
const scopes: ScopeName[] = ["openid", "offline_access", "admin:read", "admin:write"];
const office = await make.app({ scopes: [...scopes, "school", "profile", "role"] });
const learning = await make.app({ scopes: ["openid", "profile"] });
await make.grant({ app: learning.clientId, school });
const operator = await makeStaff(service, "OPERATOR");

let made = 0;

/** Somebody at no school with a role, who has chosen a password of their own. */
async function makeAccount(role: object): Promise<{ personId: PersonId; login: Login }> {
  const body = { name: null, username: `account${(made += 1)}`, ...role };
  const created = await operator.call("POST", "/staff-people", { body });
  expect(created.status).toBe(201);
  const { personId, username, ...first } = created.body as { personId: PersonId; username: string; password: string };
  const browser = makeBrowser(service.url);
  const asked = await browser.submit(await browser.open("/sign-in"), "/sign-in", { username, ...first });
  const password = "a password of my own 17";
  await browser.submit(asked, "/sign-in/new-password", { password, repeated: password });
  return { personId, login: { username, password } };
}

const wire = (names: readonly ScopeName[]) => names.map((name) => name.replace(":", ":v1:"));
const adminScopesIn = (scope: string) => scope.split(" ").filter((one) => one.includes(":admin:"));
const call = (token: string) => makeAdminClient(service, token);

test("an operator at no school signs in to the app of the staff, and works with the token", async () => {
  const { personId, login } = await makeAccount({ role: "OPERATOR" });
  const tokens = await getUserTokens(service, office, login, { scopes });
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

  const refreshed = await postToken(service, office, {
    grant_type: "refresh_token",
    refresh_token: tokens.refresh_token!,
  });
  expect((await call(refreshed.body.access_token)("GET", "/me")).body).toMatchObject({ personId });
});

test("with a second factor required, the token comes after it", async () => {
  const { login } = await makeAccount({ role: "OPERATOR" });
  const browser = makeBrowser(required.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  const asked = askFor(required, office, { scopes });
  const page = await browser.open(asked.address);
  const [, setUp] = /href="(\/sign-in\/second-factor\?return=[^"]+)"/.exec(page.html)!;
  const next = new URL(setUp!, required.url).searchParams.get("return")!;
  await setUpTotp(browser, clock, { next });
  const consent = await browser.submit(await browser.open(next), "/second-factor");
  const back = new URL((await browser.submit(consent, "/consent")).url);
  const { body } = await exchange(required, office, { browser, asked, back });
  expect((await makeAdminClient(required, body.access_token)("GET", "/health")).status).toBe(200);
});

test("a partner gets nothing of an operator", async () => {
  const { login } = await makeAccount({ role: "PARTNER", clientIds: [learning.clientId] });
  const { access_token } = await getUserTokens(service, office, login, { scopes });
  expect((await call(access_token)("GET", `/apps/${learning.clientId}`)).status).toBe(200);
  expect(refusalOf(await call(access_token)("GET", "/staff-people"))).toEqual([403, "role_forbids"]);
  expect(refusalOf(await call(access_token)("GET", `/apps/${office.clientId}`))).toEqual([404, "app_not_found"]);
});

test("who only reads gets a token that only reads, and is asked for nothing more", async () => {
  const endsAt = new Date(clock().getTime() + 600_000).toISOString();
  const { personId, login } = await makeAccount({ role: "SUPPORT", schoolIds: [school], reason: "Ticket 17", endsAt });
  const tokens = await getUserTokens(service, office, login, { scopes });
  expect(adminScopesIn(tokens.scope)).toEqual(["urn:schultor:admin:v1:read"]);
  expect((await call(tokens.access_token)("GET", `/schools/${school}`)).status).toBe(200);
  const change = await call(tokens.access_token)("PATCH", `/schools/${school}`, { body: { name: "Other" } });
  expect(refusalOf(change)).toEqual([403, "insufficient_scope"]);
  const consent = await db.prisma.consent.findFirstOrThrow({ where: { personId } });
  expect(consent.scopes).not.toContain("admin:write");
  const again = await getUserTokens(service, office, login, { scopes, browser: tokens.browser });
  expect(adminScopesIn(again.scope)).toEqual(["urn:schultor:admin:v1:read"]);

  clock.forwardSeconds(601);
  await expect(getUserTokens(service, office, login, { scopes })).rejects.toThrow("no tokens");
});

test("an app without scopes of the admin API refuses people at no school, on the page that says so", async () => {
  const { login } = await makeAccount({ role: "OPERATOR" });
  const browser = makeBrowser(service.url);
  const page = await browser.open(askFor(service, learning, { scopes: ["openid", "profile"] }).address);
  const refused = await browser.submit(page, "/login", login);
  expect([refused.status, refused.html.includes("/switch")]).toEqual([403, true]);
  expect(new URL(refused.url).pathname).toMatch(/^\/interaction\//);
});

test("a claim of the school is none, and no school is asked for", async () => {
  const { login } = await makeAccount({ role: "OPERATOR" });
  const { access_token } = await getUserTokens(service, office, login, { scopes: ["openid", "school", "role"] });
  const headers = { authorization: `Bearer ${access_token}` };
  const userinfo = await fetch(`${service.url}/oauth2/userinfo`, { headers });
  expect(await userinfo.json()).toMatchObject({ role: "OTHER", school: null });
});

test("a role that is withdrawn ends the token, and nobody without a role gets in", async () => {
  const { personId, login } = await makeAccount({ role: "OPERATOR" });
  const { access_token } = await getUserTokens(service, office, login, { scopes });
  const { id } = await db.prisma.staffRole.findFirstOrThrow({ where: { personId } });
  expect((await operator.call("DELETE", `/staff-roles/${id}`)).status).toBe(204);
  expect((await call(access_token)("GET", "/me")).status).toBe(401);
  await expect(getUserTokens(service, office, login, { scopes })).rejects.toThrow("no tokens");
});

test("the purge takes tokens, consents and sign-ins along", async () => {
  const { personId, login } = await makeAccount({ role: "OPERATOR" });
  const { access_token } = await getUserTokens(service, office, login, { scopes });
  await changeDirectory(db, { at: clock() }, async (change) => {
    await softDeletePerson(change, { personId, restoreWindowDays: 0 });
    expect(await purgePerson(change, { personId, forget: forgetPerson })).toBe(true);
  });
  expect((await call(access_token)("GET", "/me")).status).toBe(401);
  const where = { where: { personId } };
  const left = [db.prisma.oidcArtifact.count(where), db.prisma.consent.count(where), db.prisma.signIn.count(where)];
  expect(await Promise.all(left)).toEqual([0, 0, 0]);
});
