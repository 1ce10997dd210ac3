import * as oauth from "oauth4webapi";
import * as client from "openid-client";
import { beforeAll, expect, test } from "vitest";
import { demoApp, demoLogin, startDemo } from "../support/api.ts";
import { makeBrowser, type Browser } from "../support/browser.ts";
import type { TestService } from "../support/service.ts";
import { makeTestClock } from "../support/service.ts";
import { passPages, type TestApp } from "../support/token.ts";

let service: TestService;
let server: oauth.AuthorizationServer;
const insecure = { [oauth.allowInsecureRequests]: true };
beforeAll(async () => {
  // The clients judge ID tokens by the real time.
  service = await startDemo({ clock: makeTestClock(new Date()) });
  const issuer = new URL(service.url);
  server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
});

const discover = ({ clientId, clientSecret }: TestApp): Promise<client.Configuration> =>
  client.discovery(
    new URL(service.url),
    clientId,
    undefined,
    clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret),
    { execute: [client.allowInsecureRequests] },
  );

type Wishes = { scope?: string; pkce?: boolean; browser?: Browser; params?: Record<string, string> };

async function signIn(
  config: client.Configuration,
  app: TestApp,
  person: number,
  { scope = "openid profile", pkce = true, browser = makeBrowser(service.url), params = {} }: Wishes = {},
) {
  const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()];
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri: app.redirectUri,
    scope,
    state,
    nonce,
    ...(pkce && { code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" }),
    ...params,
  });
  const back = await passPages(browser, await browser.open(address.href), demoLogin(person));
  const checks = {
    expectedState: state,
    expectedNonce: nonce,
    ...(pkce && { pkceCodeVerifier: verifier }),
    idTokenExpected: true,
  };
  return { browser, tokens: await client.authorizationCodeGrant(config, new URL(back.url), checks) };
}

const pupil = "c0000000-0000-4000-8000-000000000002";

const apps = [
  ["demo-lernapp", true],
  ["demo-altapp", false],
  ["demo-spa", true],
  ["demo-mathe", true],
] as const;

test.each(apps)("openid-client signs a pupil in to %s", async (clientId, pkce) => {
  const app = demoApp(clientId);
  const config = await discover(app);
  const { tokens } = await signIn(config, app, 2, { pkce });
  expect(tokens.claims()).toMatchObject({
    sub: pupil,
    name: "Bo Muster",
    given_name: "Bo Emil",
    call_name: "Bo",
    family_name: "Muster",
  });
  expect(await client.fetchUserInfo(config, tokens.access_token, pupil)).toMatchObject({ sub: pupil, call_name: "Bo" });
});

test("openid-client refreshes, introspects, revokes and builds the logout", async () => {
  const app = demoApp("demo-lernapp");
  const config = await discover(app);
  const { tokens, browser } = await signIn(config, app, 2, { scope: "openid offline_access" });
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!);
  expect(refreshed.claims()?.sub).toBe(pupil);
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
  expect(await client.tokenIntrospection(config, refreshed.access_token)).toMatchObject({ active: true, sub: pupil });
  await client.tokenRevocation(config, refreshed.refresh_token!);
  expect(await client.tokenIntrospection(config, refreshed.access_token)).toEqual({ active: false });

  const back = "http://127.0.0.1:4000/";
  const logout = client.buildEndSessionUrl(config, {
    id_token_hint: tokens.id_token!,
    post_logout_redirect_uri: back,
    state: "s",
  });
  const confirm = await browser.open(logout.href);
  expect((await browser.submit(confirm, "/confirm", { logout: "yes" })).url).toBe(`${back}?state=s`);
});

test("openid-client reads the error of a wrong secret", async () => {
  const config = await discover({ ...demoApp("demo-mathe"), clientSecret: "wrong" });
  await expect(client.clientCredentialsGrant(config)).rejects.toMatchObject({ error: "invalid_client", status: 400 });
});

test("openid-client reads a silent sign-on and its refusal", async () => {
  const app = demoApp("demo-lernapp");
  const config = await discover(app);
  await expect(signIn(config, app, 2, { params: { prompt: "none" } })).rejects.toMatchObject({
    error: "login_required",
  });
  const { browser, tokens } = await signIn(config, app, 2);
  const silent = await signIn(config, app, 2, { browser, params: { prompt: "none", id_token_hint: tokens.id_token! } });
  expect(silent.tokens.claims()?.["sid"]).toBe(tokens.claims()?.["sid"]);
});

async function signInByOauth(app: TestApp, pkce: boolean, scope: string) {
  const [state, nonce, verifier] = [
    oauth.generateRandomState(),
    oauth.generateRandomNonce(),
    oauth.generateRandomCodeVerifier(),
  ];
  const query = new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    scope,
    state,
    nonce,
  });
  if (pkce) {
    query.set("code_challenge", await oauth.calculatePKCECodeChallenge(verifier));
    query.set("code_challenge_method", "S256");
  }
  const browser = makeBrowser(service.url);
  const back = await passPages(
    browser,
    await browser.open(`${server.authorization_endpoint!}?${query.toString()}`),
    demoLogin(2),
  );
  const client: oauth.Client = { client_id: app.clientId };
  const auth = app.clientSecret === null ? oauth.None() : oauth.ClientSecretBasic(app.clientSecret);
  const params = oauth.validateAuthResponse(server, client, new URL(back.url), state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    auth,
    params,
    app.redirectUri,
    pkce ? verifier : oauth.nopkce,
    insecure,
  );
  return {
    client,
    auth,
    nonce,
    response,
    tokens: await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    }),
  };
}

test.each(apps)("oauth4webapi signs a pupil in to %s and verifies the ID token's signature", async (clientId, pkce) => {
  const { client, response, tokens } = await signInByOauth(demoApp(clientId), pkce, "openid profile");
  await oauth.validateApplicationLevelSignature(server, response, insecure);
  const claims = oauth.getValidatedIdTokenClaims(tokens)!;
  expect(claims).toMatchObject({ aud: [client.client_id], given_name: "Bo Emil" });
  const userinfo = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
  expect(await oauth.processUserInfoResponse(server, client, claims.sub, userinfo)).toMatchObject({
    family_name: "Muster",
  });
});

test("oauth4webapi refreshes a public app's tokens", async () => {
  const { client, auth, tokens } = await signInByOauth(demoApp("demo-spa"), true, "openid offline_access");
  const response = await oauth.refreshTokenGrantRequest(server, client, auth, tokens.refresh_token!, insecure);
  const refreshed = await oauth.processRefreshTokenResponse(server, client, response);
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
});
