import { randomUUID } from "node:crypto";
import { decodeJwt, type JWTPayload } from "jose";
import { expect, test } from "vitest";
import { checkCalledUri } from "../../../src/access/index.ts";
import { askFor, exchange, giveLogin, postToken, type TestApp } from "../../support/token.ts";
import { startReceiver } from "../../support/receiver.ts";
import { refuseAll, requestsOf, signInThere, spoil, type TravellingBrowser } from "../../support/upstream-browser.ts";
import { clientId } from "../../support/upstream-provider.ts";
import { makeStaff } from "../../support/admin.ts";
import { textOf, type Shown } from "../../support/browser.ts";
import { makePasskey, useBy } from "../../support/passkey.ts";
import { confirmPath, setUpPath, setUpTotp, totpCode } from "../../support/second-factor.ts";
import { headingOf, placeOf, pressLogin, startUpstreamWorld, type ConnectedSchool } from "./upstream-world.ts";

const world = startUpstreamWorld();

/** A browser at the sign-in page of the school, which presses the button of its login. */
async function arrive({ linkName, ...connected }: ConnectedSchool) {
  const browser = world.openBrowser();
  const page = await browser.open(`/s/${linkName}`);
  return { browser, shown: await pressLogin(browser, page, connected) };
}

const codeOf = ({ html }: Shown) => /reason <code>([A-Z_]+)<\/code>/.exec(html)?.[1];
const linksOf = ({ html }: Shown) =>
  [...html.matchAll(/<a class="(?:primary|secondary)" href="([^"]*)">/g)].map(([, href]) => href);
const sessions = () => world.service.db.prisma.oidcArtifact.count({ where: { kind: "Session" } });
async function readSignIns(): Promise<Record<string, number>> {
  const metrics = await (await fetch(`${world.service.url}/metrics`)).text();
  const lines = [...metrics.matchAll(/^sign_ins_total{outcome="(\w+)"} (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, outcome, count]) => [outcome!, Number(count)]));
}

test("each failure has a page with its code, a way to try again and another way; nobody is signed in", async () => {
  const { provider, service } = world;
  const { prisma } = service.db;
  const [before, signIns, roundTrips] = [await sessions(), await readSignIns(), await prisma.upstreamRoundTrip.count()];
  const school = await world.connect();
  const set = (data: object) => prisma.upstreamConnection.update({ where: { id: school.connectionId }, data });
  const stranger = () => signInThere(provider, { import_id: "of nobody" }, "stranger");
  const cases: [code: string, status: number, change: () => unknown][] = [
    ["NOBODY_MATCHES", 403, stranger],
    ["CLAIM_MISSING", 403, () => signInThere(provider, {}, "nameless")],
    ["CANCELLED", 400, () => refuseAll(provider, "access_denied")],
    ["UPSTREAM_DOWN", 424, () => spoil(provider, { path: "/token", status: 500, body: {} })],
    ["SECRET_REFUSED", 424, () => spoil(provider, { path: "/token", status: 401, body: { error: "invalid_client" } })],
    ["INVALID_RESPONSE", 424, () => spoil(provider, { path: "/token", status: 200, body: { access_token: "x" } })],
  ];
  for (const [code, status, change] of cases) {
    stranger();
    change();
    const { shown } = await arrive(school);
    spoil(provider, null);
    expect([shown.status, codeOf(shown), placeOf(shown)], code).toEqual([
      status,
      code,
      `/upstream/${school.connectionId}/callback`,
    ]);
    expect(linksOf(shown), code).toEqual(["/sign-in", "/sign-in?other"]);
    expect(shown.html, code).toMatch(/short-code">[A-Z0-9-]+</);
  }
  const browser = world.openBrowser();
  const page = await browser.open(`/s/${school.linkName}`);
  await set({ state: "OFF" });
  const off = await pressLogin(browser, page, school);
  expect([off.status, codeOf(off)]).toEqual([403, "CONNECTION_OFF"]);
  const made = await browser.submit(page, "/upstream", { connection: "none" });
  expect(codeOf(made)).toBe("CONNECTION_OFF");
  expect(await sessions()).toBe(before);
  expect(await prisma.upstreamRoundTrip.count()).toBe(roundTrips);

  await set({ state: "ON" });
  await world.makePupil({ school: school.school });
  await arrive(school);
  const after = await readSignIns();
  const added = ["ok", "upstream_failed", "upstream_refused"].map((one) => after[one]! - (signIns[one] ?? 0));
  expect(added).toEqual([1, 3, 2]);
});

test("an account of another school is told where to find its own, and whom to ask if it is this one", async () => {
  const school = await world.connect({ schoolClaim: "school_ids", schoolValue: "DE-1" });
  await world.makePupil(school);
  const { browser, shown } = await arrive(school);
  expect([shown.status, codeOf(shown)]).toEqual([403, "OTHER_SCHOOL"]);
  expect(shown.html).toContain("find it under “Other ways to sign in”");
  expect(shown.html).toContain("If you belong to this school, tell the school office");
  expect((await browser.open("/sign-in?other")).html).toContain("Not your school? Find your school");
});

test("a failure leads back to the app that waits, which can be left there", async () => {
  const { service, make, provider } = world;
  const school = await world.connect();
  const app = await make.app();
  await make.grant({ app: app.clientId, school: school.school });
  signInThere(provider, { import_id: "of nobody" }, "stranger");
  const browser = world.openBrowser();
  await browser.open(`/s/${school.linkName}`);
  const failed = await pressLogin(browser, await browser.open(askFor(service, app).address), school);
  expect(codeOf(failed)).toBe("NOBODY_MATCHES");
  const [again] = linksOf(failed);
  const page = await browser.open(again!);
  const back = await browser.submit(page, "/cancel");
  expect(back.url).toContain("error=access_denied");
});

const leftFor = (response: Response): Shown => ({
  status: response.status,
  url: response.headers.get("location")!,
  html: "",
  headers: response.headers,
});

test("two tabs are two round trips, each of which goes on in its own app", async () => {
  const { service, make } = world;
  const school = await world.connect();
  await world.makePupil(school);
  const apps = [await make.app(), await make.app()];
  for (const app of apps) await make.grant({ app: app.clientId, school: school.school });
  const browser = world.openBrowser();
  await browser.open(`/s/${school.linkName}`);
  const pages = [];
  for (const app of apps) pages.push(await browser.open(askFor(service, app).address));
  // Both are at the provider before one comes back.
  const away = [];
  for (const page of pages) {
    const [, csrf] = /name="csrf" value="([^"]*)"/.exec(page.html)!;
    const body = new URLSearchParams({ csrf: csrf!, connection: school.connectionId });
    away.push(await browser.once(`${new URL(page.url).pathname}/upstream`, { method: "POST", body }));
  }
  for (const [at, response] of away.entries()) {
    const [, name] = /<strong>(App \d+)<\/strong>/.exec(pages[at]!.html)!;
    const consent = await browser.follow(leftFor(response));
    expect(headingOf(consent)).toBe(`May ${name} see your data?`);
    expect(placeOf(consent)).not.toBe(placeOf(pages[at]!));
  }
});

async function makeApp({ school }: ConnectedSchool, wishes: Parameters<typeof world.make.app>[0] = {}) {
  const app = await world.make.app(wishes);
  await world.make.grant({ app: app.clientId, school });
  return app;
}

/** A pupil who has signed in to an app with the login of their school. */
async function signOn(connected: ConnectedSchool, app: TestApp, browser = world.openBrowser()) {
  const asked = askFor(world.service, app, { scopes: ["openid", "offline_access"] });
  await browser.open(`/s/${connected.linkName}`);
  const shown = await pressLogin(browser, await browser.open(asked.address), connected);
  const isAsked = shown.html.includes("/consent");
  const back = new URL((isAsked ? await browser.submit(shown, "/consent") : shown).url);
  const { body } = await exchange(world.service, app, { browser, asked, back });
  return { browser, ...body };
}

/** Asks silently; `here` is the session of the service, which the browser lost or never had. */
async function askSilently(browser: TravellingBrowser, app: TestApp, params: Record<string, string> = {}) {
  const { address } = askFor(world.service, app, { params: { prompt: "none", ...params } });
  return new URL((await browser.open(address)).url).searchParams;
}

/** Ends our session without signing out, as after a night. */
const loseSession = () => world.service.db.prisma.oidcArtifact.deleteMany({ where: { kind: "Session" } });

const signOut = async (browser: TravellingBrowser, query = "") =>
  browser.submit(await browser.open(`/oauth2/sessions/logout${query}`), "/confirm", { logout: "yes" });

async function runJobs(...names: string[]): Promise<void> {
  for (const name of names) await world.service.runJob(name);
}

test("a silent request without a session here is answered from the session at the school's login, without a page", async () => {
  const connected = await world.connect();
  await world.makePupil(connected);
  const app = await makeApp(connected);
  const { browser } = await signOn(connected, app);
  await loseSession();
  const { provider } = world;
  const before = requestsOf(provider).length;
  const answer = await askSilently(browser, app);
  expect(answer.get("code")).toMatch(/./);
  expect(
    requestsOf(provider)
      .slice(before)
      .map((query) => query.get("prompt")),
  ).toEqual(["none"]);
  expect((await askSilently(browser, app)).get("code")).toMatch(/./);
  expect(requestsOf(provider)).toHaveLength(before + 1);
});

test("where nobody is signed in there, the app is told so as today, once and without a loop", async () => {
  const { provider, service } = world;
  const connected = await world.connect();
  await world.makePupil(connected);
  const app = await makeApp(connected);
  const { browser } = await signOn(connected, app);
  await loseSession();
  const before = requestsOf(provider).length;
  refuseAll(provider, "login_required");
  const params = await askSilently(browser, app);
  expect(params.get("error")).toBe("login_required");
  expect((await askSilently(browser, app)).get("error")).toBe("login_required");
  expect(requestsOf(provider)).toHaveLength(before + 1);
  service.clock.forwardSeconds(301);
  await askSilently(browser, app);
  expect(requestsOf(provider)).toHaveLength(before + 2);
  service.clock.set(new Date());
  spoil(provider, null);
});

test("nobody is signed in silently after signing out, on a shared device, after a password, or where the school has two logins", async () => {
  const { provider, service } = world;
  const connected = await world.connect();
  const { personId } = await world.makePupil(connected);
  const app = await makeApp(connected);
  const login = await giveLogin(service.db, personId);
  const withPassword = world.openBrowser();
  await withPassword.submit(await withPassword.open("/sign-in"), "/sign-in", login);
  const signedOut = (await signOn(connected, app)).browser;
  await signOut(signedOut);
  const shared = world.openBrowser();
  const page = await shared.open(`/s/${connected.linkName}`);
  await pressLogin(shared, page, connected, { shared: "yes" });
  const fresh = world.openBrowser();
  await fresh.open(`/s/${connected.linkName}`);
  const twice = (await signOn(connected, app)).browser;
  await world.connect({ schoolId: connected.school, name: "Microsoft 365", clientId: "another" });
  await loseSession();
  const before = requestsOf(provider).length;
  for (const browser of [withPassword, signedOut, shared, fresh, twice])
    expect((await askSilently(browser, app)).get("error")).toBe("login_required");
  expect(requestsOf(provider)).toHaveLength(before);
});

function makeLogoutToken(claims: JWTPayload): Promise<string> {
  const { issuer, sign } = world.provider;
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const iat = Math.floor(Date.now() / 1000);
  const standard = { iss: issuer, aud: clientId, jti: randomUUID(), iat, exp: iat + 120, events };
  return sign({ ...standard, ...claims }, { typ: "logout+jwt" });
}

test("a logout token of the school's login ends the sessions and tokens here, and the apps are told", async () => {
  const { service } = world;
  const connected = await world.connect();
  const { personId, sub } = await world.makePupil(connected);
  const receiver = await startReceiver();
  const app = await makeApp(connected, {
    backchannelLogoutUri: await checkCalledUri(`${receiver.url}/logout`, { allowPrivateAddresses: true }),
  });
  const { browser, refresh_token } = await signOn(connected, app);
  expect((await browser.open("/")).html).toContain("Signed in as");
  const send = (logoutToken: string, id: string = connected.connectionId) =>
    fetch(`${service.url}/upstream/${id}/backchannel-logout`, {
      method: "POST",
      body: new URLSearchParams({ logout_token: logoutToken }),
    });
  const good = await makeLogoutToken({ sub });
  for (const token of ["", await makeLogoutToken({ aud: "another", sub })]) {
    const refused = await send(token);
    expect([refused.status, refused.headers.get("cache-control"), await refused.json()]).toEqual([
      400,
      "no-store",
      { error: "invalid_request" },
    ]);
  }
  expect((await send(good, "none")).status).toBe(400);
  expect((await browser.open("/")).html).toContain("Signed in as");
  const ended = await send(good);
  expect([ended.status, ended.headers.get("cache-control"), await ended.text()]).toEqual([200, "no-store", ""]);
  expect((await send(good)).status).toBe(400);
  expect((await browser.open("/")).html).not.toContain("Signed in as");
  const refreshed = await postToken(service, app, { grant_type: "refresh_token", refresh_token: refresh_token! });
  expect(refreshed.body.error).toBe("invalid_grant");
  await runJobs("sign-on.endSignIns", "sign-on.tellLogouts");
  expect(receiver.received.map(({ path }) => path)).toEqual(["/logout"]);
  expect(await service.db.prisma.oidcArtifact.count({ where: { personId } })).toBe(0);
  expect(placeOf(await browser.open("/sign-in"))).toBe("/sign-in");
});

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
  const refused = await theirs.browser.open("/sign-in/password");
  expect([refused.status, textOf(refused.html).includes("uses no passwords of this service")]).toEqual([403, true]);
  expect(textOf((await theirs.browser.open("/account")).html)).not.toContain("password");
});

test("the login of a school offers no passkey, and one from before passwords were switched off signs nobody in", async () => {
  const { service } = world;
  const connected = await world.connect();
  const { school, linkName } = connected;
  const { personId } = await world.makePupil({ school, role: "TEACHER" });
  const authenticator = await makePasskey(service, await giveLogin(service.db, personId));
  const { call } = await makeStaff(service, "OPERATOR");

  for (const localPasswords of [true, false]) {
    const body = { linkName, localPasswords };
    expect((await call("PUT", `/schools/${school}/way-in`, { body })).status).toBe(204);
    const colleague = await world.makePupil({ school, role: "TEACHER" });
    await giveLogin(service.db, colleague.personId);
    const theirs = world.openBrowser();
    const shown = await pressLogin(theirs, await theirs.open(`/s/${linkName}`), connected, { passkeys: "yes" });
    expect([placeOf(shown), shown.status]).toEqual(["/", 200]);
    expect((await theirs.open("/account")).html.includes(setUpPath)).toBe(localPasswords);
    expect(placeOf(await theirs.open("/sign-in/passkey"))).toBe("/");

    const browser = world.openBrowser();
    const { status } = await useBy(browser, await browser.open("/sign-in"), authenticator);
    const { status: account } = await browser.once("/account");
    expect([status, account]).toEqual(localPasswords ? [200, 200] : [403, 303]);
  }
});
