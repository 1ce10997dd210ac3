import { createHash } from "node:crypto";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from "jose";
import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { inBatches } from "../../support/in-batches.ts";
import { askFor, basic, passPages, signOn } from "../../support/token.ts";
import {
  peopleRead,
  refusalOf,
  signInAnother,
  startRuleWorld,
  tryFaults,
  tryRules,
  type Answer,
  type Params,
} from "./world.ts";

const world = startRuleWorld();
const callback = "http://127.0.0.1:4999/callback";
const printable = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * What comes of a request: a page with the fault (RFC 6749 4.1.2.1), a question to the person, a code, or an error at
 * the app. Every answer of a kind has something in common, which the rules in the comments ask for.
 */
async function outcomeOf(rule: string, params: Params): Promise<string> {
  const { status, headers, text, to, error, code, state } = await world.authorize(params);
  if (to === null) {
    expect([status, headers.get("content-type")], rule).toEqual([400, "text/html; charset=utf-8"]);
    // RFC 9700 4.11.2: without a link to an address that cannot be trusted.
    expect(text, rule).not.toMatch(/(href|src|action|content)="[^"/]*(https?:)?\/\/evil/);
    return "page";
  }
  if (to.origin === world.service.url) return "question";
  const read = to.searchParams;
  // RFC 6749 4.1.2: the state as it came. RFC 9207 2: the issuer, which the request cannot choose.
  const expected = [callback, params["state"] === undefined ? state : params["state"], [world.service.url]];
  expect([`${to.origin}${to.pathname}`, read.get("state"), read.getAll("iss")], rule).toEqual(expected);
  expect([status, code !== null, to.hash], rule).toEqual([302, error === null, ""]);
  for (const name of ["error", "error_description"]) expect(read.get(name) ?? "", rule).toMatch(printable);
  return error ?? "code";
}

const invalidRedirects = [
  ...[`${callback}/more`, `${callback}/`, `${callback}?x=1`, `${callback}#x`, "http://127.0.0.1:4999/CALLBACK"],
  ...["https://127.0.0.1:4999/callback", "http://127.0.0.1:5000/callback", "http://a:b@127.0.0.1:4999/callback"],
  ...["http://127.0.0.1:4999/./callback", "http://127.0.0.1:4999/%63allback", ` ${callback}`],
  ...["http://127.0.0.1:4999.evil.example/callback", "http://127.0.0.1:4999@evil.example/callback"],
  ...["http://127.0.0.1:4999\\@evil.example/callback", "http://127.0.0.1:4999/callback/../evil"],
  "javascript:alert(document.domain)",
];
const named = <Value>(rule: string, values: readonly Value[], make: (value: Value) => Params): Record<string, Params> =>
  Object.fromEntries(values.map((value) => [`${rule} ${JSON.stringify(value)}`, make(value)]));
const evil = "https://evil.example/";

const requests: Record<string, Record<string, Params>> = {
  page: {
    "RFC 6749 4.1.1: an unknown client": { client_id: "nobody" },
    "RFC 6749 4.1.1: no client id": { client_id: null },
    ...named("RFC 9700 2.1 and 4.1: the redirect URI", invalidRedirects, (redirect_uri) => ({ redirect_uri })),
    ...named(
      "RFC 6749 10.15: an unregistered address, whatever else is wrong,",
      [{}, { scope: "x" }, { response_type: "x" }, { prompt: "none" }, { client_id: "nobody" }],
      (others) => ({ redirect_uri: evil, ...others }),
    ),
  },
  code: {
    ...named(
      "RFC 6749 4.1.1: the state",
      ["plain", 'a b+c%20&"\\/é', "?#&=/+", "%41%00", "€😀", "<script>alert(1)</script>", null],
      (state) => ({ state }),
    ),
    ...named(
      "RFC 6749 3.1: a parameter that nobody described,",
      [
        { resource: "https://graph.example" },
        { resource: "not an address" },
        { claims: '{"userinfo":{"email":null}}' },
        { authorization_details: "[]" },
        { dpop_jkt: "x" },
        { display: "popup" },
        { audience: "https://api.example" },
      ],
      (more) => more,
    ),
    ...named("spaces around scopes,", ["openid ", " openid", "openid  email"], (scope) => ({ scope })),
    "RFC 9207 2.4: an issuer in the request": { iss: "https://evil.example" },
    "OpenID Connect Core 3.1.2.1: acr_values is a wish that nothing fails on": { acr_values: "urn:mace:silver" },
  },
  question: {
    ...named(
      "OpenID Connect Core 3.1.2.1: a page for the prompt",
      ["login", "consent", "select_account", "select_account consent", "login select_account"],
      (prompt) => ({ prompt }),
    ),
    "OpenID Connect Core 3.1.2.4: more scopes than were agreed to": { scope: "openid role" },
  },
  invalid_request: {
    "RFC 6749 3.1.1: no response type": { response_type: null },
    "RFC 6749 3.1: a response type without a value": { response_type: "" },
    "RFC 6749 4.1.2.1: a NUL character": { nonce: "a\0b" },
    ...named(
      "RFC 7636 4.2: the challenge",
      ["a".repeat(42), "a".repeat(44), `${"a".repeat(42)}=`],
      (code_challenge) => ({ code_challenge }),
    ),
    ...named("RFC 7636 4.3: the method", ["plain", "s256", "S512", "S256 ", null], (code_challenge_method) => ({
      code_challenge_method,
    })),
    "RFC 7636 4.3: a method without a challenge": { code_challenge: null },
    "RFC 9700 2.1.1: a confidential client without PKCE": { code_challenge: null, code_challenge_method: null },
    ...named(
      "OpenID Connect Core 3.1.2.1: the prompt",
      ["NONE", "create", "grün", "none login", "none select_account", "consent none", "login,consent"],
      (prompt) => ({ prompt }),
    ),
    ...named(
      "OpenID Connect Core 3.1.2.1: the max_age",
      ["1e2", "0x10", " 5", "5 ", "+5", "-1", "-0", "05", "5.0", "00", "Infinity", "x", "☃"],
      (max_age) => ({ max_age }),
    ),
  },
  invalid_scope: {
    "RFC 6749 3.3: a scope in other letters": { scope: "OpenID" },
    "OpenID Connect Core 5.4: no scope but one that does not exist here": { scope: "email" },
    "RFC 6749 4.1.2.1: a scope that cannot be in a description": { scope: 'no"such\\scope' },
  },
  unsupported_response_type: named(
    "RFC 6749 4.1.2.1 and RFC 9700 2.1.2: the response type",
    [
      ...["token", "id_token", "id_token token", "code token", "code id_token", "code id_token token"],
      ...["nonsense", "CODE", "code ", "none"],
    ],
    (response_type) => ({ response_type }),
  ),
  registration_not_supported: {
    "OpenID Connect Core 3.1.2.6: a registration in the request": { registration: '{"client_name":"x"}' },
  },
};

test.each(Object.entries(requests))("the requests of these rules end with: %s", async (outcome, of) => {
  const answers = await inBatches(Object.entries(of), async ([rule, params]) => [rule, await outcomeOf(rule, params)]);
  expect(answers).toEqual(Object.keys(of).map((rule) => [rule, outcome]));
});

const userinfo = async (token: string) => (await world.read("/oauth2/userinfo", token)).status;

tryRules({
  "RFC 6749 3.1: a repeated parameter is an invalid request": async () => {
    for (const name of ["client_id", "redirect_uri", "response_type", "scope", "state", "nonce"]) {
      const url = new URL(askFor(world.service, world.app).address);
      url.searchParams.append(name, url.searchParams.get(name)!);
      const { status, headers } = await world.browser.once(url.href);
      const location = headers.get("location");
      if (location === null) expect([name, status]).toEqual([name, 400]);
      else expect([name, new URL(location).searchParams.get("error")]).toEqual([name, "invalid_request"]);
    }
  },
  "RFC 6749 10.12: the consent form of a sign-on is refused without its token": async () => {
    const browser = makeBrowser(world.service.url);
    const page = await browser.open(askFor(world.service, await world.makeApp()).address);
    const consent = await browser.submit(page, "/login", world.login);
    const refused = await browser.submit(consent, "/consent", { csrf: "forged" });
    expect([refused.status, refused.url.includes("code=")]).toEqual([403, false]);
  },
  "RFC 6749 10.14: no parameter becomes markup of a page": async () => {
    const markup = `"><script>alert(1)</script>`;
    for (const name of ["login_hint", "client_id", "ui_locales", "redirect_uri"]) {
      const { address } = askFor(world.service, world.app, { params: { [name]: markup } });
      expect((await makeBrowser(world.service.url).open(address)).html, name).not.toContain("<script>alert");
    }
  },
  "RFC 8252 7: an app on a device registers the whole address, at its own scheme or with https": async () => {
    const redirectUris = ["com.example.app:/callback", "https://app.example/callback"];
    const app = await world.makeApp({ type: "PUBLIC", redirectUris });
    for (const redirect_uri of ["com.example.app:/other", "https://app.example/other"]) {
      const { status, to } = await world.authorize({ redirect_uri }, { app });
      expect([status, to]).toEqual([400, null]);
    }
    const browser = makeBrowser(world.service.url);
    const shown = await passPages(browser, await browser.open(askFor(world.service, app).address), world.login);
    expect(shown.url).toMatch(/^com\.example\.app:\/callback\?/);
  },
  "RFC 8252 7.1 and RFC 9700 4.1.3: what is no reversed domain name or runs script is no scheme of an app":
    async () => {
      for (const uri of ["app:/callback", "vbscript:x", "blob:https://a.example/1", "https://example.org/*"])
        for (const name of ["redirectUris", "postLogoutRedirectUris"])
          await expect(world.makeApp({ type: "PUBLIC", [name]: [uri] }), uri).rejects.toMatchObject({
            code: "uri_refused",
          });
    },
  "OpenID Connect Core 3.1.2.2: a hint that is forged or unsigned is refused, one of another person answered":
    async () => {
      const [head, payload] = (await world.tokens()).id_token!.split(".");
      const unsigned = Buffer.from('{"alg":"none"}').toString("base64url");
      const silent = async (id_token_hint: string) => (await world.authorize({ prompt: "none", id_token_hint })).error;
      expect(await silent(`${head!}.${payload!}.AAAAAA`)).toBe("invalid_request");
      expect(await silent(`${unsigned}.${payload!}.`)).toBe("invalid_request");
      expect(await silent((await signInAnother(world)).id_token!)).toBe("login_required");
    },
});

const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");

/** Exchanges a new code, with other fields than the right ones. */
async function exchangeWith(fields: Params, of: Parameters<typeof world.token>[1] = {}): Promise<Answer> {
  return world.token({ ...world.fieldsOf(await world.authorize()), ...fields }, of);
}

tryFaults({
  invalid_client: {
    "RFC 6749 4.1.3: no authentication": () => exchangeWith({ client_id: world.app.clientId }, { headers: {} }),
  },
  invalid_request: {
    "RFC 6749 4.1.3: no redirect URI": () => exchangeWith({ redirect_uri: null }),
    "RFC 6749 4.1.3: no code": () => exchangeWith({ code: null }),
    "RFC 8252 8.5: the id of a confidential app alone": () =>
      exchangeWith({}, { headers: basic({ ...world.app, clientSecret: "" }) }),
  },
  invalid_grant: {
    "RFC 6749 4.1.3: another redirect URI": () => exchangeWith({ redirect_uri: "http://127.0.0.1:4999/other" }),
    "RFC 6749 10.10: a guessed code": () => exchangeWith({ code: "0".repeat(43) }),
    "RFC 6749 10.10: a statement as a code": () => exchangeWith({ code: "'; DROP TABLE oidc_artifact; --" }),
    "RFC 7636 4.6: another verifier": () => exchangeWith({ code_verifier: "b".repeat(43) }),
    "RFC 7636 4.6: no verifier": () => exchangeWith({ code_verifier: null }),
    "RFC 9700 4.5.3: the code of another session": async () => exchangeWith({ code: (await world.authorize()).code }),
    "RFC 7636 1: the stolen code of a public client": async () => {
      const app = world.spa;
      const [stolen, own] = [await world.authorize({}, { app }), await world.authorize({}, { app })];
      return world.token({ ...world.fieldsOf(own, app), code: stolen.code }, { app });
    },
    "RFC 7636 4.6: the challenge as the verifier": async () => {
      const authorized = await world.authorize();
      return world.token({ ...world.fieldsOf(authorized), code_verifier: challengeOf(authorized.verifier) });
    },
    "RFC 6749 4.1.2: a code that is older than a minute": async () => {
      const fields = world.fieldsOf(await world.authorize());
      world.service.clock.forwardSeconds(61);
      return world.token(fields);
    },
  },
});

tryRules({
  "RFC 6749 4.1.3: a code of another client is refused, and not spent by the try": async () => {
    const fields = world.fieldsOf(await world.authorize());
    expect(refusalOf(await world.token(fields, { app: await world.makeApp() }))).toEqual([400, "invalid_grant"]);
    expect((await world.token(fields)).status).toBe(200);
  },
  "RFC 6749 10.5: a code is refused as an access token": async () =>
    expect(await userinfo((await world.authorize()).code!)).toBe(401),
  "RFC 7636 4.1: a verifier has 43 to 128 characters, and no others than those of the rule": async () => {
    const tried = async (code_verifier: string) => {
      const authorized = await world.authorize({ code_challenge: challengeOf(code_verifier) });
      return (await world.token({ ...world.fieldsOf(authorized), code_verifier })).status;
    };
    const [shortest, longest] = ["a".repeat(43), "a-._~9Z".repeat(19).slice(0, 128)];
    expect([await tried(shortest), await tried(longest)]).toEqual([200, 200]);
    for (const wrong of [shortest.slice(1), `${longest}a`, `${shortest.slice(1)}+`])
      expect([wrong, await tried(wrong)]).toEqual([wrong, 400]);
  },
  "RFC 7636 4: a public client without a challenge gets no code, with one it needs the verifier alone": async () => {
    const without = { code_challenge: null, code_challenge_method: null };
    expect((await world.authorize(without, { app: world.spa })).error).toBe("invalid_request");
    expect((await world.tokens("openid", { app: world.spa })).token_type).toBe("bearer");
  },
  "RFC 9700 4.8.2: of a client without PKCE, the verifier and the challenge still belong together": async () => {
    const app = await world.makeApp({ pkceRequired: false });
    const tried = async (pkce: boolean, more: Params) => {
      const { back } = await signOn(world.service, app, world.login, { browser: world.browser, pkce });
      const fields = { grant_type: "authorization_code", code: back.searchParams.get("code") };
      return refusalOf(await world.token({ ...fields, redirect_uri: app.redirectUri, ...more }, { app }));
    };
    expect(await tried(false, { code_verifier: askFor(world.service, app).verifier })).toEqual([400, "invalid_grant"]);
    expect(await tried(true, {})).toEqual([400, "invalid_grant"]);
  },
});

const readKeys = async () =>
  (await (await fetch(`${world.service.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;

tryRules({
  "OpenID Connect Core 2 and 16.14: a header names its key by an id alone, and the request chooses no signature":
    async () => {
      const { id_token } = await world.tokens("openid", { params: { id_token_signed_response_alg: "none" } });
      expect(Object.keys(decodeProtectedHeader(id_token!)).sort()).toEqual(["alg", "kid"]);
      expect(decodeProtectedHeader(id_token!).alg).toBe("RS256");
    },
  "OpenID Connect Core 3.1.3.7: each app gets the signature that it registered": async () => {
    for (const alg of ["ES256", "EdDSA"] as const) {
      const app = await world.makeApp({ idTokenAlgorithm: alg });
      const { to } = await world.authorize({}, { app });
      await world.browser.submit(await world.browser.open(to!.href), "/consent");
      const { id_token: signed } = await world.tokens("openid", { app });
      const options = { currentDate: world.service.clock() };
      const { protectedHeader } = await jwtVerify(signed!, createLocalJWKSet(await readKeys()), options);
      expect(protectedHeader.alg).toBe(alg);
    }
  },
  "OpenID Connect Core 5.3.3: a token without the scope openid gets no claims": async () =>
    expect(await userinfo((await world.tokens(peopleRead)).access_token)).toBe(403),
  "OpenID Connect Core 10.1: keys are for signing, and an RSA key has at least 2048 bits": async () => {
    const { keys } = await readKeys();
    expect(new Set(keys.map(({ use }) => use))).toEqual(new Set(["sig"]));
    for (const { n } of keys.filter(({ kty }) => kty === "RSA"))
      expect(Buffer.from(n!, "base64url").length).toBeGreaterThanOrEqual(256);
  },
  "OpenID Connect Core 12.2: an ID token of a refresh is of the same sign-in, and says when it was issued":
    async () => {
      const first = await world.tokens("openid offline_access");
      world.service.clock.forwardSeconds(1);
      const { body } = await world.token({ grant_type: "refresh_token", refresh_token: first.refresh_token! });
      const [before, after] = [decodeJwt(first.id_token!), decodeJwt(body.id_token!)];
      for (const name of ["iss", "sub", "aud", "auth_time", "sid", "rat"])
        expect([name, after[name]]).toEqual([name, before[name]]);
      expect(after.exp! - after.iat!).toBe(3600);
    },
});
