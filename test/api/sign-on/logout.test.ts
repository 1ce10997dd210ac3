import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { checkCalledUri } from "../../../src/access/index.ts";
import { makeBrowser } from "../../support/browser.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { askFor, getUserTokens, postToken, type TestApp } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
const backUri = "http://127.0.0.1:4999/";

const receiver = await startReceiver();

const logoutAt = (params: Record<string, string>) =>
  `${world.service.url}/oauth2/sessions/logout?${new URLSearchParams(params).toString()}`;
const userinfo = async (token: string) =>
  (await fetch(`${world.service.url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;
const refresh = (app: TestApp, token: string) =>
  postToken(world.service, app, { grant_type: "refresh_token", refresh_token: token });

test("logout ends the session and what hangs on it, and goes back to the exact address", async () => {
  const { service, login } = world;
  const app = await world.app({ postLogoutRedirectUris: [backUri] });
  const { browser, access_token, id_token } = await getUserTokens(service, app, login);
  const page = await browser.open(
    logoutAt({ id_token_hint: id_token!, post_logout_redirect_uri: backUri, state: "s1" }),
  );
  expect(page.status).toBe(200);
  const left = await browser.submit(page, "/confirm", { logout: "yes" });
  expect(left.url).toBe(`${backUri}?state=s1`);
  expect(await userinfo(access_token)).toBe(401);
  expect((await browser.open(askFor(service, app).address)).html).toContain("/login");
  const { rows } = await service.db.pool.query("SELECT FROM audit WHERE action = 'logged_out' AND person_id = $1", [
    world.pupil,
  ]);
  expect(rows.length).toBeGreaterThan(0);
});

test("refresh tokens with offline_access live on, in this browser's family and every other", async () => {
  const { service, login } = world;
  const app = await world.app();
  const [here, there] = [
    await getUserTokens(service, app, login, { scopes: ["openid", "offline_access"] }),
    await getUserTokens(service, app, login, { scopes: ["openid", "offline_access"] }),
  ];
  const online = await getUserTokens(service, app, login, { browser: here.browser });
  const elsewhere = await getUserTokens(service, app, login, { browser: there.browser });
  await here.browser.submit(await here.browser.open(logoutAt({})), "/confirm", { logout: "yes" });
  expect(await userinfo(online.access_token)).toBe(401);
  expect(await userinfo(here.access_token)).toBe(401);
  expect(await userinfo(elsewhere.access_token)).toBe(200);
  const refreshed = await refresh(app, here.refresh_token!);
  expect(refreshed.status).toBe(200);
  expect(await userinfo(refreshed.body.access_token)).toBe(200);
  expect((await refresh(app, there.refresh_token!)).status).toBe(200);
});

test("staying signed in changes nothing", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { browser, access_token } = await getUserTokens(service, app, login);
  await browser.submit(await browser.open(logoutAt({ client_id: app.clientId })), "/confirm");
  expect(await userinfo(access_token)).toBe(200);
  expect((await browser.open(askFor(service, app).address)).url).toContain("code=");
});

test.each([
  ["another path", `${backUri}other`],
  ["no final slash", backUri.slice(0, -1)],
])("an address that is not registered exactly is refused: %s", async (_what, uri) => {
  const { service, login } = world;
  const app = await world.app({ postLogoutRedirectUris: [backUri] });
  const { browser, id_token } = await getUserTokens(service, app, login);
  expect((await browser.open(logoutAt({ id_token_hint: id_token!, post_logout_redirect_uri: uri }))).status).toBe(400);
});

test("a forged or foreign hint is refused", async () => {
  const { service, login } = world;
  const [app, other] = [await world.app(), await world.app()];
  const { browser, id_token } = await getUserTokens(service, app, login);
  for (const params of [
    { id_token_hint: `${id_token!.slice(0, -4)}AAAA` },
    { id_token_hint: "x" },
    { id_token_hint: id_token!, client_id: other.clientId },
  ]) {
    expect((await browser.open(logoutAt(params as Record<string, string>))).status).toBe(400);
  }
});

test("a hint that is posted is in no address, and names the app as one in the query does", async () => {
  const { service, login } = world;
  const [app, other] = [await world.app({ postLogoutRedirectUris: [backUri] }), await world.app()];
  const { browser, id_token } = await getUserTokens(service, app, login);
  const post = (fields: Record<string, string>) =>
    browser.once(`${service.url}/oauth2/sessions/logout`, { method: "POST", body: new URLSearchParams(fields) });
  const fields = { post_logout_redirect_uri: backUri, state: "s1" };
  const asked = await post({ ...fields, id_token_hint: id_token! });
  expect(asked.status).toBe(303);
  const location = new URL(asked.headers.get("location")!, service.url);
  expect(Object.fromEntries(location.searchParams)).toEqual({ ...fields, client_id: app.clientId });
  expect((await browser.open(location.href)).html).toContain("/confirm");
  for (const wrong of [
    { id_token_hint: `${id_token!.slice(0, -4)}AAAA` },
    { id_token_hint: "x" },
    { id_token_hint: id_token!, client_id: other.clientId },
  ]) {
    const refused = await post({ ...fields, ...wrong } as Record<string, string>);
    expect([refused.status, refused.headers.get("location")]).toEqual([400, null]);
  }
});

test("without a session logout goes straight back, with no form that needs a script", async () => {
  const { service } = world;
  const app = await world.app({ postLogoutRedirectUris: [backUri] });
  const left = await makeBrowser(service.url).open(
    logoutAt({ client_id: app.clientId, post_logout_redirect_uri: backUri, state: "x" }),
  );
  expect(left.url).toBe(`${backUri}?state=x`);
  expect((await makeBrowser(service.url).open(logoutAt({}))).status).toBe(200);
});

test("apps that registered an address are told, with the sid of their ID tokens, again until they answer", async () => {
  const { service, login, pupil } = world;
  const app = await world.app({
    backchannelLogoutUri: await checkCalledUri(receiver.url, { allowPrivateAddresses: true }),
    idTokenAlgorithm: "ES256",
  });
  const { browser, id_token } = await getUserTokens(service, app, login);
  await browser.submit(await browser.open(logoutAt({})), "/confirm", { logout: "yes" });
  receiver.received.length = 0;
  for (const status of [500, 302, 200]) {
    receiver.script(answer(status, status === 302 ? { location: "/elsewhere" } : {}));
    await world.service.runJob("sign-on.tellLogouts");
    service.clock.forwardSeconds(61);
  }
  expect(receiver.received).toHaveLength(3);
  const jwks = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
  const token = new URLSearchParams(receiver.received[2]!.body).get("logout_token")!;
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(jwks), {
    issuer: service.url,
    audience: app.clientId,
    currentDate: service.clock(),
  });
  expect(protectedHeader).toMatchObject({ typ: "logout+jwt", alg: "ES256" });
  expect(payload).toMatchObject({
    sub: pupil,
    sid: decodeJwt(id_token!)["sid"],
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
  expect(payload).not.toHaveProperty("nonce");
  await world.service.runJob("sign-on.tellLogouts");
  expect(receiver.received).toHaveLength(3);
});
