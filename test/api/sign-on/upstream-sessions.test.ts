import { randomUUID } from "node:crypto";
import type { JWTPayload } from "jose";
import { expect, test } from "vitest";
import { checkCalledUri } from "../../../src/access/index.ts";
import type { TestApp } from "../../support/token.ts";
import { askFor, exchange, giveLogin, postToken } from "../../support/token.ts";
import { startReceiver } from "../../support/receiver.ts";
import { refuseAll, requestsOf, spoil, type TravellingBrowser } from "../../support/upstream-browser.ts";
import { clientId } from "../../support/upstream-provider.ts";
import { placeOf, pressLogin, startUpstreamWorld, type ConnectedSchool } from "./upstream-world.ts";

const world = startUpstreamWorld();

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
