import { createHash, randomBytes } from "node:crypto";
import { decodeProtectedHeader } from "jose";
import { expect, vi } from "vitest";
import { makeBrowser } from "../../../support/browser.ts";
import { entropyOf, unsigned } from "./conditions.ts";
import { type Flow, type Module, notApplicable, type Suite, warning } from "./flow.ts";

const succeedsWith =
  (params: Record<string, string>): Module =>
  async ({ complete }) => {
    await complete(params);
  };

const withoutScope =
  (...scopes: string[]): Module =>
  async ({ discovery }) => {
    const { scopes_supported: offered } = await discovery();
    for (const scope of scopes) expect(offered).not.toContain(scope);
    return notApplicable(`There is no scope ${scopes.map((scope) => `\`${scope}\``).join(" or ")}.`);
  };

/** Signs in again in the same browser, which must ask for the password, and compares the times. */
async function expectSecondSignIn(suite: Suite, waitSeconds: number, params: Record<string, string>) {
  const browser = makeBrowser(suite.world.service.url);
  const first = await suite.complete({}, { browser });
  const signedInAt = Number(first.claims["auth_time"]);
  await atTime(signedInAt + waitSeconds, async () => {
    const { callback, asksPassword } = await suite.authorize(params, { browser });
    expect([asksPassword, callback?.params.has("code")]).toEqual([true, true]);
    const { claims } = await suite.complete({ prompt: "none" }, { browser });
    expect(claims["auth_time"]).toBe(signedInAt + waitSeconds);
  });
}

/** Does the work while it is this time for the library, which reads the machine's. Units: seconds. */
async function atTime<Made>(seconds: number, work: () => Promise<Made>): Promise<Made> {
  vi.setSystemTime(seconds * 1000);
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

async function expectSameSignIn(suite: Suite, first: Flow, params: Record<string, string>) {
  const { page, callback, asksPassword } = await suite.authorize(params);
  expect([callback !== null, asksPassword, page.status < 400]).toEqual([true, false, true]);
  const second = await suite.complete(params);
  expect([second.claims.sub, second.claims["auth_time"]]).toEqual([first.claims.sub, first.claims["auth_time"]]);
  expect(second.claims["auth_time"]).toBeTypeOf("number");
}

export const basic: Record<string, Module> = {
  "oidcc-server": async ({ complete, keys }) => {
    const { code, claims, tokens } = await complete();
    const published = await keys();
    const kids = published.keys.map(({ kid }) => kid);
    expect([new Set(kids).size, kids.every((kid) => typeof kid === "string")]).toEqual([kids.length, true]);
    expect(published.keys.filter((key) => "d" in key || key.kty === "oct")).toEqual([]);
    expect(entropyOf(code)).toBeGreaterThan(96);
    const hash = createHash("sha256").update(tokens.access_token).digest().subarray(0, 16).toString("base64url");
    expect(claims["at_hash"]).toBe(hash);
    expect(claims).not.toHaveProperty("name");
    const known = ["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "azp", "at_hash", "s_hash"];
    expect(
      Object.keys(claims)
        .filter((name) => !known.includes(name))
        .sort(),
    ).toEqual(["jti", "rat", "sid"]);
    return warning("Every ID token also has `jti`, `rat` and `sid`, which the suite does not request.");
  },
  "oidcc-response-type-missing": async ({ authorize, errorOf }) => {
    expect(["invalid_request", "unsupported_response_type"]).toContain(
      errorOf(await authorize({ response_type: null })),
    );
  },
  "oidcc-idtoken-signature": async ({ complete }) => {
    const { tokens } = await complete();
    expect(decodeProtectedHeader(tokens.id_token!)).toMatchObject({ alg: "RS256", kid: expect.any(String) as string });
  },
  "oidcc-idtoken-unsigned": async ({ discovery }) => {
    expect((await discovery())["id_token_signing_alg_values_supported"]).not.toContain("none");
    return notApplicable("ID tokens are always signed.");
  },
  "oidcc-userinfo-get": async ({ complete, userinfo, readUserinfo }) => {
    const flow = await complete();
    await readUserinfo(await userinfo(flow.tokens.access_token), flow);
  },
  "oidcc-userinfo-post-header": async ({ complete, userinfo, readUserinfo }) => {
    const flow = await complete();
    await readUserinfo(await userinfo(flow.tokens.access_token, { method: "POST" }), flow);
  },
  "oidcc-userinfo-post-body": async ({ complete, userinfo, readUserinfo }) => {
    const flow = await complete();
    const { access_token } = flow.tokens;
    const form = { method: "POST", headers: {}, body: new URLSearchParams({ access_token }) };
    await readUserinfo(await userinfo(access_token, form), flow);
  },
  "oidcc-ensure-request-without-nonce-succeeds-for-code-flow": async ({ complete }) => {
    await complete({ nonce: null });
  },
  "oidcc-scope-profile": async ({ complete, userinfo, readUserinfo }) => {
    const flow = await complete({ scope: "openid profile" });
    const info = await readUserinfo(await userinfo(flow.tokens.access_token), flow);
    for (const name of ["name", "given_name", "family_name"]) expect(info[name]).toBeTypeOf("string");
    expect(info).not.toHaveProperty("birthdate");
    return warning(
      "`profile` gives `name`, `given_name` and `family_name`; the service does not store the other eleven claims.",
    );
  },
  "oidcc-scope-email": withoutScope("email"),
  "oidcc-scope-address": withoutScope("address"),
  "oidcc-scope-phone": withoutScope("phone"),
  "oidcc-scope-all": withoutScope("email", "phone", "address"),
  "oidcc-alternate-happy-flow": async (suite) => {
    await suite.complete({ scope: "profile openid" });
    expect((await suite.discovery())["scopes_supported"]).not.toContain("email");
    return notApplicable("The module needs the scope `email`. The same flow with `scope=profile openid` succeeds.");
  },
  "oidcc-display-page": succeedsWith({ display: "page" }),
  "oidcc-display-popup": succeedsWith({ display: "popup" }),
  "oidcc-prompt-login": async (suite) => {
    await expectSecondSignIn(suite, 1, { prompt: "login" });
  },
  "oidcc-prompt-none-not-logged-in": async ({ world, authorize, errorOf }) => {
    const params = { prompt: "none", state: randomBytes(64).toString("hex") };
    const authorized = await authorize(params, { browser: makeBrowser(world.service.url) });
    expect(errorOf(authorized)).toBe("login_required");
  },
  "oidcc-prompt-none-logged-in": async (suite) => {
    await expectSameSignIn(suite, await suite.complete(), { prompt: "none" });
  },
  "oidcc-max-age-1": async (suite) => {
    await expectSecondSignIn(suite, 2, { max_age: "1" });
  },
  "oidcc-max-age-10000": async (suite) => {
    await expectSameSignIn(suite, await suite.complete({ max_age: "15000" }), { max_age: "10000" });
  },
  "oidcc-ensure-request-with-unknown-parameter-succeeds": succeedsWith({ extra: "foobar" }),
  "oidcc-id-token-hint": async (suite) => {
    const first = await suite.complete();
    await expectSameSignIn(suite, first, { prompt: "none", id_token_hint: first.tokens.id_token! });
  },
  "oidcc-login-hint": async ({ complete, world }) => {
    await complete({ login_hint: world.login.username });
  },
  "oidcc-ui-locales": succeedsWith({ ui_locales: "se" }),
  "oidcc-claims-locales": succeedsWith({ claims_locales: "se" }),
  "oidcc-ensure-request-with-acr-values-succeeds": async ({ complete, discovery }) => {
    const offered = (await discovery())["acr_values_supported"] as string[];
    const { claims } = await complete({ acr_values: offered.join(" ") });
    expect(offered).toContain(claims["acr"]);
  },
  "oidcc-codereuse": async ({ world, client, complete, expectInvalidGrant }) => {
    const { fields } = await complete();
    expectInvalidGrant(await world.token(fields, { app: client }));
  },
  "oidcc-codereuse-30seconds": async ({ world, client, complete, expectInvalidGrant, userinfo }) => {
    const { fields, tokens } = await complete();
    world.service.clock.forwardSeconds(30);
    expectInvalidGrant(await world.token(fields, { app: client }));
    expect((await userinfo(tokens.access_token)).status).toBe(401);
  },
  "oidcc-ensure-registered-redirect-uri": async ({ authorize, client, expectErrorPage }) => {
    expectErrorPage(await authorize({ redirect_uri: `${client.redirectUri}/${randomBytes(8).toString("hex")}` }));
  },
  "oidcc-ensure-post-request-succeeds": async ({ complete }) => {
    await complete({}, { method: "POST" });
  },
  "oidcc-server-client-secret-post": async ({ complete, world: { makeApp } }) => {
    const app = await makeApp({ pkceRequired: false, tokenEndpointAuthMethod: "client_secret_post" });
    await complete({}, { app, headers: {}, fields: { client_id: app.clientId, client_secret: app.clientSecret } });
  },
  "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported": async ({ authorize, errorOf }) => {
    expect(errorOf(await authorize({ request_uri: "https://rp.example/request#1" }))).toBe("request_uri_not_supported");
    return notApplicable("Refused with `request_uri_not_supported`, which the suite permits.");
  },
  "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported": async ({ authorize, errorOf }) => {
    expect(errorOf(await authorize({ request: unsigned({ scope: "openid" }) }))).toBe("request_not_supported");
    return notApplicable("Refused with `request_not_supported`, which the suite permits.");
  },
  "oidcc-claims-essential": async ({ complete, userinfo, readUserinfo, discovery }) => {
    expect((await discovery())["claims_parameter_supported"] ?? false).toBe(false);
    const flow = await complete({ claims: JSON.stringify({ userinfo: { name: { essential: true } } }) });
    expect(await readUserinfo(await userinfo(flow.tokens.access_token), flow)).not.toHaveProperty("name");
    return warning("The parameter `claims` is ignored: apps get claims by scope, as registered and granted.");
  },
  "oidcc-ensure-request-object-with-redirect-uri": async ({ authorize, client, expectErrorPage }) => {
    const request = unsigned({ redirect_uri: client.redirectUri });
    expectErrorPage(await authorize({ request, redirect_uri: `${client.redirectUri}/invalid` }));
    return notApplicable("Request objects are not read. The unregistered address gets an error page.");
  },
  "oidcc-refresh-token": async ({
    world,
    complete,
    second,
    client,
    checkTokens,
    expectInvalidGrant,
    userinfo,
    discovery,
  }) => {
    const scope = "openid offline_access";
    const first = await complete({ scope, prompt: "consent" });
    expect((await discovery())["grant_types_supported"]).toContain("refresh_token");
    const refresh = { grant_type: "refresh_token", refresh_token: first.tokens.refresh_token!, scope };
    const answer = await atTime(first.claims.iat! + 1, () => world.token(refresh, { app: client }));
    const claims = await checkTokens(answer, client, { nonce: (first.claims["nonce"] as string | undefined) ?? null });
    const { headers, body } = answer;
    expect([headers.get("content-type"), headers.get("cache-control")]).toEqual([
      expect.stringMatching(/^application\/json/),
      expect.stringContaining("no-store"),
    ]);
    expect(body.access_token).not.toBe(first.tokens.access_token);
    for (const token of [body.access_token, body.refresh_token!]) expect(entropyOf(token)).toBeGreaterThan(96);
    const kept = ["iss", "sub", "aud", "auth_time", "azp"];
    expect(kept.map((name) => claims[name])).toEqual(kept.map((name) => first.claims[name]));
    expect(claims.iat).toBeGreaterThan(first.claims.iat!);
    expect((await userinfo(body.access_token)).status).toBe(200);
    const others = await complete({ scope, prompt: "consent" }, { app: second });
    expectInvalidGrant(await world.token({ ...refresh, refresh_token: others.tokens.refresh_token! }, { app: client }));
  },
  "oidcc-ensure-request-with-valid-pkce-succeeds": async ({ complete }) => {
    const code_verifier = randomBytes(32).toString("base64url");
    const code_challenge = createHash("sha256").update(code_verifier).digest("base64url");
    await complete({ code_challenge, code_challenge_method: "S256" }, { fields: { code_verifier } });
  },
};
