import * as oauth from "oauth4webapi";
import { beforeAll, expect, test } from "vitest";
import { demoApp, demoLogin, startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import type { TestService } from "../support/service.ts";
import { makeTestClock } from "../support/service.ts";
import { passPages, type TestApp } from "../support/token.ts";

let service: TestService;
let server: oauth.AuthorizationServer;
const insecure = { [oauth.allowInsecureRequests]: true };

beforeAll(async () => {
  // The client judges ID tokens by the real time.
  service = await startDemo({ clock: makeTestClock(new Date()) });
  const issuer = new URL(service.url);
  server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
});

async function signIn(app: TestApp, pkce: boolean, scope: string) {
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

test.each([
  ["demo-lernapp", true],
  ["demo-altapp", false],
  ["demo-spa", true],
  ["demo-mathe", true],
])("oauth4webapi signs a pupil in to %s and verifies the ID token's signature", async (clientId, pkce) => {
  const { client, response, tokens } = await signIn(demoApp(clientId), pkce, "openid profile");
  await oauth.validateApplicationLevelSignature(server, response, insecure);
  const claims = oauth.getValidatedIdTokenClaims(tokens)!;
  expect(claims).toMatchObject({ aud: [client.client_id], given_name: "Bo Emil" });
  const userinfo = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
  expect(await oauth.processUserInfoResponse(server, client, claims.sub, userinfo)).toMatchObject({
    family_name: "Muster",
  });
});

test("oauth4webapi refreshes a public app's tokens", async () => {
  const { client, auth, tokens } = await signIn(demoApp("demo-spa"), true, "openid offline_access");
  const response = await oauth.refreshTokenGrantRequest(server, client, auth, tokens.refresh_token!, insecure);
  const refreshed = await oauth.processRefreshTokenResponse(server, client, response);
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
});

test("oauth4webapi reads the error of a wrong secret", async () => {
  const app = demoApp("demo-lernapp");
  const client = { client_id: app.clientId };
  const response = await oauth.clientCredentialsGrantRequest(
    server,
    client,
    oauth.ClientSecretBasic("wrong"),
    {},
    insecure,
  );
  await expect(oauth.processClientCredentialsResponse(server, client, response)).rejects.toMatchObject({
    error: "invalid_client",
  });
});
