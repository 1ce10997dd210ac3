import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from "jose";
import { beforeAll, expect, test } from "vitest";
import { checkBackchannelLogoutUri } from "../../../src/access/index.ts";
import { makeBrowser, type Browser } from "../../support/browser.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { askFor, getUserTokens, type TestApp, type TokenBody } from "../../support/token.ts";
import { discover, startRuleWorld, type Params } from "./world.ts";

// The modules of the OpenID Foundation's conformance suite for providers, by their names. A module for what is optional
// and not offered asserts that discovery says so.
const world = startRuleWorld({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
const backUri = "http://127.0.0.1:4999/bye";

let app: TestApp;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  const backchannelLogoutUri = await checkBackchannelLogoutUri(`${receiver.url}/logout`, {
    allowPrivateAddresses: true,
  });
  app = await world.makeApp({ postLogoutRedirectUris: [backUri], backchannelLogoutUri });
});

const exchange = async (params: Params = {}) => world.token(world.fieldsOf(await world.authorize(params)));
const claimsOf = async (params: Params = {}) => decodeJwt((await exchange(params)).body.id_token!);
const userinfo = (init: RequestInit) => fetch(`${world.service.url}/oauth2/userinfo`, init);
const keys = async () => (await (await fetch(`${world.service.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;

async function expectHappy(params: Params = {}): Promise<void> {
  const authorized = await world.authorize(params);
  expect(authorized.to!.searchParams.get("state")).toBe(params["state"] ?? authorized.state);
  expect((await world.token(world.fieldsOf(authorized))).status).toBe(200);
}

test("oidcc-server", async () => {
  const authorized = await world.authorize();
  const { body } = await world.token(world.fieldsOf(authorized));
  const { payload } = await jwtVerify(body.id_token!, createLocalJWKSet(await keys()), {
    audience: world.app.clientId,
  });
  expect(payload).toMatchObject({ sub: world.pupil, nonce: authorized.nonce });
});

test("oidcc-response-type-missing", async () => {
  expect((await world.authorize({ response_type: null })).error).toMatch(
    /^(invalid_request|unsupported_response_type)$/,
  );
});

test("oidcc-idtoken-signature", async () => {
  const { id_token } = (await exchange()).body;
  const { kid } = decodeProtectedHeader(id_token!);
  expect((await keys()).keys.filter((key) => key.kid === kid)).toHaveLength(1);
  await expect(jwtVerify(id_token!, createLocalJWKSet(await keys()))).resolves.toBeTruthy();
});

test("oidcc-idtoken-unsigned", async () => {
  expect((await discover(world))["id_token_signing_alg_values_supported"]).not.toContain("none");
});

test("oidcc-userinfo-get", async () => {
  const { body } = await exchange();
  const response = await userinfo({ headers: { authorization: `Bearer ${body.access_token}` } });
  expect(await response.json()).toMatchObject({ sub: world.pupil });
});

test("oidcc-userinfo-post-header", async () => {
  const { body } = await exchange();
  const response = await userinfo({ method: "POST", headers: { authorization: `Bearer ${body.access_token}` } });
  expect(await response.json()).toMatchObject({ sub: world.pupil });
});

test("oidcc-userinfo-post-body", async () => {
  const { body } = await exchange();
  const response = await userinfo({ method: "POST", body: new URLSearchParams({ access_token: body.access_token }) });
  expect(await response.json()).toMatchObject({ sub: world.pupil });
});

test("oidcc-ensure-request-without-nonce-succeeds-for-code-flow", async () => {
  expect(await claimsOf({ nonce: null })).not.toHaveProperty("nonce");
});

test("oidcc-scope-profile", async () => {
  const { access_token } = (await exchange({ scope: "openid profile" })).body;
  const response = await userinfo({ headers: { authorization: `Bearer ${access_token}` } });
  expect(await response.json()).toMatchObject({ sub: world.pupil, family_name: expect.any(String) as string });
});

test.each(["oidcc-scope-email", "oidcc-scope-address", "oidcc-scope-phone", "oidcc-scope-all"])("%s", async () => {
  const { scopes_supported: scopes } = await discover(world);
  for (const scope of ["email", "address", "phone"]) expect(scopes).not.toContain(scope);
});

test("oidcc-ensure-other-scope-order-succeeds", async () => {
  await expectHappy({ scope: "profile openid" });
});

test("oidcc-alternate-happy-flow", async () => {
  const authorized = await world.authorize({}, { app: world.spa });
  expect((await world.token(world.fieldsOf(authorized, world.spa), { app: world.spa })).status).toBe(200);
});

test("oidcc-display-page", async () => {
  await expectHappy({ display: "page" });
});

test("oidcc-display-popup", async () => {
  await expectHappy({ display: "popup" });
});

test("oidcc-prompt-login", async () => {
  const before = await claimsOf();
  const browser = makeBrowser(world.service.url);
  const first = await getUserTokens(world.service, world.app, world.login, { browser });
  const page = await browser.open(askFor(world.service, world.app, { params: { prompt: "login" } }).address);
  expect(page.html).toContain('type="password"');
  const back = await browser.submit(page, "/login", world.login);
  expect(new URL(back.url).searchParams.has("code")).toBe(true);
  expect(decodeJwt(first.id_token!).sub).toBe(before.sub);
});

test("oidcc-prompt-none-not-logged-in", async () => {
  const browser = makeBrowser(world.service.url);
  expect((await world.authorize({ prompt: "none" }, { browser })).error).toBe("login_required");
});

test("oidcc-prompt-none-logged-in", async () => {
  const [first, second] = [await claimsOf(), await claimsOf({ prompt: "none" })];
  expect([second.sub, second["auth_time"]]).toEqual([first.sub, first["auth_time"]]);
});

test("oidcc-max-age-1", async () => {
  const browser = makeBrowser(world.service.url);
  const first = await getUserTokens(world.service, world.app, world.login, { browser });
  const signedInAt = Number(decodeJwt(first.id_token!)["auth_time"]) * 1000;
  await expect.poll(() => Date.now() - signedInAt).toBeGreaterThan(2100);
  const page = await browser.open(askFor(world.service, world.app, { params: { max_age: "1" } }).address);
  expect(page.html).toContain('type="password"');
});

test("oidcc-max-age-10000", async () => {
  const [first, second] = [await claimsOf(), await claimsOf({ max_age: "10000" })];
  expect(second["auth_time"]).toBe(first["auth_time"]);
});

test("oidcc-ensure-request-with-unknown-parameter-succeeds", async () => {
  await expectHappy({ extra: "foobar" });
});

test("oidcc-id-token-hint", async () => {
  const { id_token } = (await exchange()).body;
  expect((await claimsOf({ prompt: "none", id_token_hint: id_token! })).sub).toBe(world.pupil);
});

test("oidcc-login-hint", async () => {
  await expectHappy({ login_hint: world.login.username });
});

test("oidcc-ui-locales", async () => {
  await expectHappy({ ui_locales: "se" });
});

test("oidcc-claims-locales", async () => {
  await expectHappy({ claims_locales: "se" });
});

test("oidcc-ensure-request-with-acr-values-succeeds", async () => {
  await expectHappy({ acr_values: "1 2" });
});

test("oidcc-codereuse", async () => {
  const fields = world.fieldsOf(await world.authorize());
  await world.token(fields);
  const { status, body } = await world.token(fields);
  expect([status, body.error]).toEqual([400, "invalid_grant"]);
});

test("oidcc-codereuse-30seconds", async () => {
  const fields = world.fieldsOf(await world.authorize());
  const { body } = await world.token(fields);
  world.service.clock.forwardSeconds(30);
  expect((await world.token(fields)).body.error).toBe("invalid_grant");
  expect((await userinfo({ headers: { authorization: `Bearer ${body.access_token}` } })).status).toBe(401);
});

test("oidcc-ensure-registered-redirect-uri", async () => {
  const { status, to } = await world.authorize({ redirect_uri: "http://127.0.0.1:4999/callback/other" });
  expect([status, to]).toEqual([400, null]);
});

test("oidcc-redirect-uri-query-mismatch", async () => {
  const { status, to } = await world.authorize({ redirect_uri: `${world.app.redirectUri}?foo=bar` });
  expect([status, to]).toEqual([400, null]);
});

test("oidcc-redirect-uri-query-added", async () => {
  const registered = await world.makeApp({ redirectUris: [`${world.app.redirectUri}?foo=bar`] });
  const { status, to } = await world.authorize(
    { redirect_uri: `${registered.redirectUri}&added=1` },
    { app: registered },
  );
  expect([status, to]).toEqual([400, null]);
});

test("oidcc-redirect-uri-query-OK", async () => {
  const registered = await world.makeApp({ redirectUris: [`${world.app.redirectUri}?foo=bar`] });
  const { to } = await world.authorize({ prompt: "none" }, { app: registered });
  expect(to!.searchParams.get("foo")).toBe("bar");
});

test("oidcc-redirect-uri-regfrag", async () => {
  await expect(world.makeApp({ redirectUris: [`${backUri}#foobar`] })).rejects.toMatchObject({ code: "uri_refused" });
});

test("oidcc-ensure-post-request-succeeds", async () => {
  const { pathname, searchParams } = new URL(askFor(world.service, world.app).address);
  const sent = await world.browser.once(pathname, { method: "POST", body: searchParams });
  const { headers } = await world.browser.once(sent.headers.get("location")!);
  expect(new URL(headers.get("location")!).searchParams.has("code")).toBe(true);
});

test("oidcc-server-client-secret-post", async () => {
  expect((await discover(world))["token_endpoint_auth_methods_supported"]).not.toContain("client_secret_post");
});

test("oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported", async () => {
  expect((await world.authorize({ request_uri: "https://rp.example/r" })).error).toBe("request_uri_not_supported");
});

test("oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported", async () => {
  expect((await world.authorize({ request: "eyJhbGciOiJub25lIn0.e30." })).error).toBe("request_not_supported");
});

test("oidcc-ensure-request-object-with-redirect-uri", async () => {
  const payload = Buffer.from(JSON.stringify({ redirect_uri: "https://evil.example/" })).toString("base64url");
  const { to, error } = await world.authorize({ request: `eyJhbGciOiJub25lIn0.${payload}.` });
  expect([error, to!.origin]).toEqual(["request_not_supported", new URL(world.app.redirectUri).origin]);
});

test("oidcc-claims-essential", async () => {
  expect((await discover(world))["claims_parameter_supported"] ?? false).toBe(false);
  await expectHappy({ claims: JSON.stringify({ userinfo: { name: { essential: true } } }) });
});

test("oidcc-refresh-token", async () => {
  const { body } = await exchange({ scope: "openid offline_access" });
  const fields = { grant_type: "refresh_token", refresh_token: body.refresh_token! };
  expect((await world.token(fields, { app: await world.makeApp() })).body.error).toBe("invalid_grant");
  const refreshed = await world.token(fields);
  expect(decodeJwt(refreshed.body.id_token!)).toMatchObject({ sub: world.pupil, iss: world.service.url });
});

test("oidcc-refresh-token-rp-key-rotation", async () => {
  expect((await discover(world))["token_endpoint_auth_methods_supported"]).not.toContain("private_key_jwt");
});

test("oidcc-ensure-request-with-valid-pkce-succeeds", async () => {
  await expectHappy();
});

test("oidcc-discovery-endpoint-verification", async () => {
  const document = await discover(world);
  for (const name of [
    ...["issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "scopes_supported"],
    ...["response_types_supported", "subject_types_supported", "id_token_signing_alg_values_supported"],
    "claims_supported",
  ])
    expect(document).toHaveProperty(name);
  expect(document["id_token_signing_alg_values_supported"]).toContain("RS256");
  expect(document["scopes_supported"]).toContain("openid");
});

test("oidcc-server-rotate-keys", async () => {
  const { kid } = decodeProtectedHeader((await exchange()).body.id_token!);
  const ofSameKind = (await keys()).keys.filter(({ alg }) => alg === "RS256").map((key) => key.kid);
  expect(ofSameKind.filter((other) => other !== kid)).not.toEqual([]);
});

test.each([
  "oidcc-registration-jwks-uri",
  "oidcc-registration-logo-uri",
  "oidcc-registration-policy-uri",
  "oidcc-registration-tos-uri",
  "oidcc-registration-sector-uri",
  "oidcc-registration-sector-bad",
])("%s", async () => {
  expect(await discover(world)).not.toHaveProperty("registration_endpoint");
});

test.each(["oidcc-request-uri-unsigned", "oidcc-request-uri-signed-rs256"])("%s", async () => {
  expect((await discover(world))["request_uri_parameter_supported"]).toBe(false);
});

test("oidcc-userinfo-rs256", async () => {
  expect(await discover(world)).not.toHaveProperty("userinfo_signing_alg_values_supported");
});

test("oidcc-frontchannel-logout-discovery-endpoint-verification", async () => {
  expect((await discover(world))["frontchannel_logout_supported"] ?? false).toBe(false);
});

test("oidcc-session-management-discovery-endpoint-verification", async () => {
  expect(await discover(world)).not.toHaveProperty("check_session_iframe");
});

type SignedIn = TokenBody & { browser: Browser };
const signIn = (): Promise<SignedIn> => getUserTokens(world.service, app, world.login);
const at = (params: Record<string, string>) => `/oauth2/sessions/logout?${new URLSearchParams(params).toString()}`;
const logOut = async ({ browser }: SignedIn, params: Record<string, string>) =>
  browser.submit(await browser.open(at(params)), "/confirm", { logout: "yes" });

test("oidcc-rp-initiated-logout-discovery-endpoint-verification", async () => {
  expect((await discover(world))["end_session_endpoint"]).toMatch(/^http/);
});

test("oidcc-rp-initiated-logout", async () => {
  const who = await signIn();
  const left = await logOut(who, { id_token_hint: who.id_token!, post_logout_redirect_uri: backUri, state: "s" });
  expect(left.url).toBe(`${backUri}?state=s`);
  expect((await world.authorize({ prompt: "none" }, { app, browser: who.browser })).error).toBe("login_required");
});

test("oidcc-rp-initiated-logout-bad-id-token-hint", async () => {
  expect((await (await signIn()).browser.open(at({ id_token_hint: "x.y.z" }))).status).toBe(400);
});

test("oidcc-rp-initiated-logout-modified-id-token-hint", async () => {
  const { browser, id_token } = await signIn();
  expect((await browser.open(at({ id_token_hint: `${id_token!.slice(0, -6)}AAAAAA` }))).status).toBe(400);
});

test("oidcc-rp-initiated-logout-bad-post-logout-redirect-uri", async () => {
  const { browser, id_token } = await signIn();
  const params = { id_token_hint: id_token!, post_logout_redirect_uri: `${backUri}/bad` };
  expect((await browser.open(at(params))).status).toBe(400);
});

test("oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri", async () => {
  const { browser, id_token } = await signIn();
  const params = { id_token_hint: id_token!, post_logout_redirect_uri: `${backUri}?foo=bar` };
  expect((await browser.open(at(params))).status).toBe(400);
});

test("oidcc-rp-initiated-logout-no-id-token-hint", async () => {
  const left = await logOut(await signIn(), { post_logout_redirect_uri: backUri });
  expect(new URL(left.url).origin).toBe(world.service.url);
});

test("oidcc-rp-initiated-logout-no-params", async () => {
  const who = await signIn();
  expect((await logOut(who, {})).status).toBe(200);
  expect((await world.authorize({ prompt: "none" }, { app, browser: who.browser })).error).toBe("login_required");
});

test("oidcc-rp-initiated-logout-no-post-logout-redirect-uri", async () => {
  const who = await signIn();
  expect(new URL((await logOut(who, { id_token_hint: who.id_token! })).url).origin).toBe(world.service.url);
});

test("oidcc-rp-initiated-logout-no-state", async () => {
  const who = await signIn();
  const params = { id_token_hint: who.id_token!, post_logout_redirect_uri: backUri };
  expect((await logOut(who, params)).url).toBe(backUri);
});

test("oidcc-rp-initiated-logout-only-state", async () => {
  const left = await logOut(await signIn(), { state: "s" });
  expect([new URL(left.url).origin, left.url.includes("state=")]).toEqual([world.service.url, false]);
});

test("oidcc-backchannel-logout-discovery-endpoint-verification", async () => {
  expect((await discover(world))["backchannel_logout_supported"]).toBe(true);
});

test("oidcc-backchannel-rp-initiated-logout", async () => {
  const tell = () =>
    world.service.jobs.find(({ name }) => name === "sign-on.tellLogouts")!.run(new AbortController().signal);
  const who = await signIn();
  await tell();
  receiver.received.length = 0;
  await logOut(who, { id_token_hint: who.id_token! });
  await tell();
  const token = new URLSearchParams(receiver.received[0]!.body).get("logout_token")!;
  expect(decodeJwt(token)).toMatchObject({ sid: decodeJwt(who.id_token!)["sid"], aud: [app.clientId] });
  await expect(
    jwtVerify(token, createLocalJWKSet(await keys()), { currentDate: world.service.clock() }),
  ).resolves.toBeTruthy();
});
