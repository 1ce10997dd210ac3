import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { confirmPath, setUpPath, setUpTotp, totpCode } from "../../support/second-factor.ts";
import { askFor, exchange, giveLogin } from "../../support/token.ts";
import type { TravellingBrowser } from "../../support/upstream-browser.ts";
import { placeOf, pressLogin, startUpstreamWorld, type ConnectedSchool } from "./upstream-world.ts";

const world = startUpstreamWorld();

async function signIn(connected: ConnectedSchool, browser = world.openBrowser(), path = "/admin") {
  await browser.open(`/s/${connected.linkName}`);
  const page = await browser.open(`/sign-in?return=${encodeURIComponent(path)}`);
  return { browser, shown: await pressLogin(browser, page, connected) };
}

async function makeAdmin(connected: ConnectedSchool) {
  const made = await world.makePupil({ school: connected.school, role: "TEACHER" });
  await world.giveStaffRole(made.personId, "SCHOOL_ADMIN", [connected.school]);
  return made;
}

const amrOf = async (personId: string) => {
  const where = { kind: "Session", personId };
  const sessions = await world.service.db.prisma.oidcArtifact.findMany({ where, orderBy: { expiresAt: "desc" } });
  return sessions.map(({ payload }) => (payload as { amr?: string[] }).amr);
};

/** Sets up an authenticator app with the school's login; its codes. */
async function enrol(connected: ConnectedSchool): Promise<() => string> {
  const { clock } = world.service;
  const { browser } = await signIn(connected);
  const { secret } = await setUpTotp(browser, clock);
  clock.forwardSeconds(30);
  return () => totpCode(secret, clock());
}

const isAtWork = async (browser: TravellingBrowser) => placeOf(await browser.open("/admin")) !== "/sign-in";

test("staff of a school work with its login; a second factor that they have is asked for before they have a session", async () => {
  const { service } = world;
  const connected = await world.connect();
  const { personId } = await makeAdmin(connected);
  const { browser, shown } = await signIn(connected);
  expect([placeOf(shown).startsWith("/admin/"), shown.status]).toEqual([true, 200]);
  expect(await isAtWork(browser)).toBe(true);
  const code = await enrol(connected);
  await service.db.prisma.oidcArtifact.deleteMany({ where: { personId } });

  const asked = await signIn(connected);
  expect(placeOf(asked.shown)).toBe(confirmPath);
  // No password was typed here.
  expect(asked.shown.html).not.toMatch(/your password/i);
  expect(await amrOf(personId)).toEqual([]);
  const wrong = await asked.browser.submit(asked.shown, confirmPath, { code: "000000" });
  expect([wrong.status, await isAtWork(asked.browser)]).toEqual([422, false]);
  const done = await asked.browser.submit(asked.shown, confirmPath, { code: code() });
  expect(placeOf(done)).toMatch(/^\/admin\//);
  expect(await amrOf(personId)).toEqual([["upstream", "otp", "mfa"]]);
  const { upstreamSessionId } = await service.db.prisma.oidcArtifact.findFirstOrThrow({
    where: { kind: "Session", personId },
  });
  expect(upstreamSessionId).not.toBeNull();
  service.clock.set(new Date());
});

test("an app of the staff asks for the second factor as after a password", async () => {
  const { service, make } = world;
  const connected = await world.connect();
  const { personId } = await makeAdmin(connected);
  const code = await enrol(connected);
  await service.db.prisma.oidcArtifact.deleteMany({ where: { personId } });
  const app = await make.app({ scopes: ["openid", "admin:read"] });
  await make.grant({ app: app.clientId, school: connected.school });
  const browser = world.openBrowser();
  await browser.open(`/s/${connected.linkName}`);
  const asked = askFor(service, app, { scopes: ["openid", "admin:read"] });
  const factor = await pressLogin(browser, await browser.open(asked.address), connected);
  const consent = await browser.submit(factor, "/second-factor", { code: code() });
  const back = new URL((await browser.submit(consent, "/consent")).url);
  const { body } = await exchange(service, app, { browser, asked, back });
  const headers = { authorization: `Bearer ${body.access_token}` };
  expect((await fetch(`${service.url}/admin/v1/me`, { headers })).status).toBe(200);
  await world.giveStaffRole(personId, "OPERATOR");
  expect((await fetch(`${service.url}/admin/v1/me`, { headers })).status).toBe(401);
  service.clock.set(new Date());
});

test("a second factor of a login that is trusted for it counts, and lets nobody change second factors here", async () => {
  const { service, provider } = world;
  const connected = await world.connect({ trustedForSecondFactor: true });
  const { personId } = await makeAdmin(connected);
  const code = await enrol(connected);
  provider.after = async (path, body) => {
    if (path !== "/token") return body;
    const claims = { ...decodeJwt(String(body["id_token"])), amr: ["pwd", "mfa"] };
    return { ...body, id_token: await provider.sign(claims) };
  };
  await service.db.prisma.oidcArtifact.deleteMany({ where: { personId } });
  const { browser, shown } = await signIn(connected);
  provider.after = null;
  expect(placeOf(shown)).toMatch(/^\/admin\//);
  expect(await amrOf(personId)).toEqual([["upstream", "mfa"]]);
  const factors = await browser.open(setUpPath);
  expect(placeOf(factors)).toBe(confirmPath);
  expect(placeOf(await browser.submit(factors, confirmPath, { code: code() }))).toBe(setUpPath);
  service.clock.set(new Date());
});

test("one's own password is asked for when it is changed, also in a session of the school's login", async () => {
  const { service } = world;
  const connected = await world.connect();
  const { personId } = await makeAdmin(connected);
  const login = await giveLogin(service.db, personId);
  const { browser } = await signIn(connected);
  const page = await browser.open("/sign-in/password");
  const password = "another long password";
  const untyped = await browser.submit(page, "/password", { password, repeated: password });
  expect(untyped.status).toBe(422);
  const done = await browser.submit(page, "/password", { current: login.password, password, repeated: password });
  expect(placeOf(done)).toBe("/");
  expect(await amrOf(personId)).toContainEqual(["pwd"]);

  const without = await world.connect({ localPasswords: false });
  const teacher = await world.makePupil({ school: without.school, role: "TEACHER" });
  await giveLogin(service.db, teacher.personId);
  const theirs = await signIn(without, world.openBrowser(), "/");
  expect((await theirs.browser.open("/sign-in/password")).status).toBe(403);
});
