import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, basic, passPages, readCallback, signOn } from "../../support/token.ts";
import { startRuleWorld, tryRules, type Answer, type Params } from "./world.ts";

const world = startRuleWorld();
const withoutChallenge = { code_challenge: null, code_challenge_method: null };
const callback = "http://127.0.0.1:4999/callback";

/** A fault that is told to the person on a page of the service, and to no address of the request. */
async function expectPage(params: Params): Promise<void> {
  const { status, to, headers } = await world.authorize(params);
  expect([status, to, headers.get("content-type")]).toEqual([400, null, "text/html; charset=utf-8"]);
}

async function expectError(params: Params, error: string): Promise<void> {
  const answer = await world.authorize(params);
  expect([answer.status, answer.error, answer.code, answer.to?.searchParams.get("state")]).toEqual([
    302,
    error,
    null,
    params["state"] === null ? null : answer.state,
  ]);
  expect(answer.to?.href.startsWith(`${callback}?`)).toBe(true);
}

async function expectCode(params: Params): Promise<URL> {
  const { code, to } = await world.authorize(params);
  expect(code, to?.href).not.toBeNull();
  return to!;
}

const pages: Record<string, Params> = {
  "RFC 6749 4.1.1: an unknown client is told to the person": { client_id: "nobody" },
  "RFC 6749 4.1.1: a request without a client id is told to the person": { client_id: null },
  "RFC 9700 2.1: a redirect URI with something behind it is refused": { redirect_uri: `${callback}/more` },
  "RFC 9700 2.1: a redirect URI with a slash behind it is refused": { redirect_uri: `${callback}/` },
  "RFC 9700 2.1: a redirect URI with a query added is refused": { redirect_uri: `${callback}?x=1` },
  "RFC 9700 2.1: a redirect URI with a fragment added is refused": { redirect_uri: `${callback}#x` },
  "RFC 9700 2.1: a redirect URI in other letters is refused": { redirect_uri: "http://127.0.0.1:4999/CALLBACK" },
  "RFC 9700 2.1: a redirect URI with another scheme is refused": { redirect_uri: "https://127.0.0.1:4999/callback" },
  "RFC 9700 2.1: a redirect URI with another port is refused": { redirect_uri: "http://127.0.0.1:5000/callback" },
  "RFC 9700 2.1: a redirect URI with credentials added is refused": {
    redirect_uri: "http://a:b@127.0.0.1:4999/callback",
  },
  "RFC 9700 2.1: a redirect URI that another spelling leads to is refused": {
    redirect_uri: "http://127.0.0.1:4999/./callback",
  },
  "RFC 9700 2.1: a redirect URI with an escaped letter is refused": {
    redirect_uri: "http://127.0.0.1:4999/%63allback",
  },
  "RFC 9700 2.1: a redirect URI with a space around it is refused": { redirect_uri: ` ${callback}` },
  "RFC 9700 4.1.1: a redirect URI whose host begins like the registered one is refused": {
    redirect_uri: "http://127.0.0.1:4999.evil.example/callback",
  },
  "RFC 9700 4.1.1: a redirect URI whose credentials look like the host is refused": {
    redirect_uri: "http://127.0.0.1:4999@evil.example/callback",
  },
  "RFC 9700 4.1.1: a redirect URI with a backslash in place of a slash is refused": {
    redirect_uri: "http://127.0.0.1:4999\\@evil.example/callback",
  },
  "RFC 9700 4.1.1: a redirect URI that climbs out of its folder is refused": {
    redirect_uri: "http://127.0.0.1:4999/callback/../evil",
  },
  "RFC 9700 4.1.3: a javascript URI is refused": { redirect_uri: "javascript:alert(document.domain)" },
};
test.each(Object.entries(pages))("%s", (_rule, params) => expectPage(params));

const errors: [rule: string, params: Params, error: string][] = [
  ["RFC 6749 3.1.1: a request without a response type", { response_type: null }, "invalid_request"],
  ["RFC 6749 3.3: a scope in other letters", { scope: "OpenID" }, "invalid_scope"],
  ["RFC 6749 4.1.2.1: an unknown response type", { response_type: "nonsense" }, "unsupported_response_type"],
  [
    "RFC 6749 4.1.2.1: a scope that the client was not given",
    { scope: "openid urn:schultor:admin:v1:write" },
    "invalid_scope",
  ],
  ["RFC 6749 4.1.2.1: a scope that nobody knows", { scope: "openid e-mail" }, "invalid_scope"],
  ["RFC 6749 4.1.2.1: a NUL character", { nonce: "a\0b" }, "invalid_request"],
  ["RFC 7636 4.2: a challenge that is too short", { code_challenge: "a".repeat(42) }, "invalid_request"],
  ["RFC 7636 4.2: a challenge that is too long", { code_challenge: "a".repeat(44) }, "invalid_request"],
  ["RFC 7636 4.2: a challenge that is no base64url", { code_challenge: `${"a".repeat(42)}=` }, "invalid_request"],
  ["RFC 7636 4.3: the method plain", { code_challenge_method: "plain" }, "invalid_request"],
  ["RFC 7636 4.3: a challenge without a method", { code_challenge_method: null }, "invalid_request"],
  ["RFC 7636 4.3: a method without a challenge", { code_challenge: null }, "invalid_request"],
  ["RFC 7636 4.4.1: an unknown method", { code_challenge_method: "S512" }, "invalid_request"],
  ["RFC 9700 2.1.1: a confidential client without PKCE", withoutChallenge, "invalid_request"],
  ["RFC 9700 4.17.2: an answer to another window", { response_mode: "web_message" }, "unsupported_response_mode"],
  ["OpenID Connect Core 3.1.2.1: an unknown prompt", { prompt: "select_account" }, "invalid_request"],
  ["OpenID Connect Core 3.1.2.1: prompt=none with another", { prompt: "none login" }, "invalid_request"],
  ["OpenID Connect Core 3.1.2.1: prompt=none after another", { prompt: "consent none" }, "invalid_request"],
  ...["-1", "x", "1e3", "0x10", "1.5"].map((max_age): (typeof errors)[number] => [
    `OpenID Connect Core 3.1.2.1: the max_age ${max_age}`,
    { max_age },
    "invalid_request",
  ]),
  [
    "OpenID Connect Core 3.1.2.6: a registration in the request",
    { registration: '{"client_name":"x"}' },
    "registration_not_supported",
  ],
];
test.each(errors)("%s is refused, and the app is told", (_rule, params, error) => expectError(params, error));

tryRules({
  "RFC 6749 3.1: a parameter without a value counts as omitted": async () => {
    await expectError({ response_type: "" }, "invalid_request");
    const back = await expectCode({ state: "" });
    expect(back.searchParams.has("state")).toBe(false);
  },
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
  "RFC 6749 3.1.2: a redirect URI that is not absolute cannot be registered": () =>
    expect(world.makeApp({ redirectUris: ["/callback"] })).rejects.toMatchObject({ code: "uri_refused" }),
  "RFC 6749 4.1.1: the state comes back unchanged": async () => {
    for (const state of ["plain", 'a b+c%20&"\\/é', "?#&=/+", "%41%00", "€😀", "<script>alert(1)</script>"])
      expect((await expectCode({ state })).searchParams.get("state")).toBe(state);
  },
  "RFC 6749 4.1.2: code and state come back in the query": async () => {
    const back = await expectCode({});
    expect([back.hash, back.searchParams.has("code"), back.searchParams.has("state")]).toEqual(["", true, true]);
  },
  "RFC 6749 4.1.2: an answer to a request without state has none": async () =>
    expect((await expectCode({ state: null })).searchParams.has("state")).toBe(false),
  "RFC 6749 4.1.2.1: descriptions of errors hold printable ASCII without quote and backslash": async () => {
    for (const params of [
      { scope: 'no"such\\scope' },
      { prompt: "grün" },
      { response_type: "\u0000" },
      { max_age: "☃" },
    ]) {
      const { to, status } = await world.authorize(params);
      expect(status).toBe(302);
      expect(to!.searchParams.get("error")).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      expect(to!.searchParams.get("error_description") ?? "").toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/);
    }
  },
  "RFC 6749 10.5: a code is long and never the same": async () => {
    const codes = await Promise.all(Array.from({ length: 5 }, async () => (await world.authorize()).code!));
    expect(new Set(codes).size).toBe(5);
    for (const code of codes) expect(code).toMatch(/^[\w-]{43,}$/);
  },
  "RFC 6749 10.12: the sign-in form of a sign-on is refused without its token": async () => {
    const browser = makeBrowser(world.service.url);
    const page = await browser.open(askFor(world.service, world.app).address);
    expect((await browser.submit(page, "/login", { ...world.login, csrf: "forged" })).status).toBe(422);
  },
  "RFC 6749 10.12: the consent form of a sign-on is refused without its token": async () => {
    const browser = makeBrowser(world.service.url);
    const page = await browser.open(askFor(world.service, await world.makeApp()).address);
    const consent = await browser.submit(page, "/login", world.login);
    const refused = await browser.submit(consent, "/consent", { csrf: "forged" });
    expect([refused.status, refused.url.includes("code=")]).toEqual([403, false]);
  },
  "RFC 6749 10.14: no parameter becomes markup of a page": async () => {
    const evil = `"><script>alert(1)</script>`;
    for (const params of [{ login_hint: evil }, { client_id: evil }, { ui_locales: evil }, { redirect_uri: evil }]) {
      const url = new URL(askFor(world.service, world.app, { params }).address);
      expect((await makeBrowser(world.service.url).open(url.href)).html).not.toContain("<script>alert");
    }
  },
  "RFC 6749 10.15: an unregistered address is never redirected to, whatever else is wrong": async () => {
    for (const params of [{ scope: "x" }, { response_type: "x" }, { prompt: "none" }, { client_id: "nobody" }]) {
      const { to, status } = await world.authorize({ redirect_uri: "https://evil.example/", ...params });
      expect([status, to]).toEqual([400, null]);
    }
  },
  "RFC 9700 2.1: a redirect URI of another client is refused": async () => {
    const other = await world.makeApp({ redirectUris: ["https://other.example/callback"] });
    await expectPage({ redirect_uri: other.redirectUri });
  },
  "RFC 9700 4.1.3: a pattern cannot be registered as a redirect URI": async () => {
    for (const uri of ["https://*.example.org/callback", "https://example.org/*"])
      await expect(world.makeApp({ redirectUris: [uri] })).rejects.toMatchObject({ code: "uri_refused" });
  },
  "RFC 9700 4.1.3: an address that runs script cannot be registered as a redirect URI": async () => {
    for (const uri of ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "blob:https://a.example/1"])
      for (const type of ["PUBLIC", "CONFIDENTIAL"] as const)
        await expect(world.makeApp({ type, redirectUris: [uri] })).rejects.toMatchObject({ code: "uri_refused" });
  },
  "RFC 9700 2.1.2: no response type gives tokens at the authorization endpoint": async () => {
    for (const type of ["token", "id_token", "id_token token", "code token", "code id_token", "code id_token token"])
      await expectError({ response_type: type }, "unsupported_response_type");
  },
  "RFC 9700 2.1.2: no response mode puts a token into the answer": async () => {
    for (const mode of ["query", "fragment", "form_post"]) {
      const { to, text } = await world.authorize({ response_mode: mode, scope: "openid offline_access" });
      const { params } = readCallback(world.service, { url: to?.href ?? world.service.url, html: text })!;
      expect([mode, [...params.keys()].sort()]).toEqual([mode, ["code", "iss", "state"]]);
    }
  },
  "RFC 9700 4.11.2: a request that cannot be trusted is answered by a page without a link to that address":
    async () => {
      const { text } = await world.authorize({ redirect_uri: "https://evil.example/" });
      expect(text).not.toMatch(/(href|src|action|content)="[^"/]*(https?:)?\/\/evil/);
    },
  "RFC 9700 4.12: what was typed is not sent on to the app by the redirect after a form": async () => {
    const browser = makeBrowser(world.service.url);
    const page = await browser.open(askFor(world.service, world.app).address);
    const csrf = /name="csrf"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*name="csrf"/.exec(page.html)!;
    const body = new URLSearchParams({ ...world.login, csrf: csrf[1] ?? csrf[2]! });
    const posted = await browser.once(`${page.url}/login`, { method: "POST", body });
    expect(posted.status).toBe(303);
  },
  "RFC 9700 4.13: forwarding headers of a stranger change no address": async () => {
    const { address } = askFor(world.service, world.app, { params: { prompt: "none" } });
    const { headers } = await fetch(address, {
      redirect: "manual",
      headers: { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", forwarded: "host=evil.example" },
    });
    expect(headers.get("location")).not.toContain("evil");
    expect(new URL(headers.get("location")!).searchParams.get("iss")).toBe(world.service.url);
  },
  "RFC 9207 2: a code comes with the issuer": async () =>
    expect((await expectCode({})).searchParams.getAll("iss")).toEqual([world.service.url]),
  "RFC 9207 2: an error comes with the issuer": async () => {
    const { to } = await world.authorize({ prompt: "none" }, { browser: makeBrowser(world.service.url) });
    expect([to!.searchParams.get("error"), to!.searchParams.getAll("iss")]).toEqual([
      "login_required",
      [world.service.url],
    ]);
  },
  "RFC 9207 2.4: a request cannot choose the issuer of its answer": async () => {
    const back = await expectCode({ iss: "https://evil.example" });
    expect(back.searchParams.getAll("iss")).toEqual([world.service.url]);
  },
  "RFC 8252 7.1: a scheme of the app's own is a reversed domain name": async () => {
    const native = await world.makeApp({ type: "PUBLIC", redirectUris: ["com.example.app:/callback"] });
    const browser = makeBrowser(world.service.url);
    const shown = await passPages(browser, await browser.open(askFor(world.service, native).address), world.login);
    expect(shown.url).toMatch(/^com\.example\.app:\/callback\?/);
    await expect(world.makeApp({ type: "PUBLIC", redirectUris: ["app:/callback"] })).rejects.toMatchObject({
      code: "uri_refused",
    });
  },
  "RFC 8252 7.2: an https address of the app is taken, and only as registered": async () => {
    const native = await world.makeApp({ type: "PUBLIC", redirectUris: ["https://app.example/callback"] });
    const { to, status } = await world.authorize({ redirect_uri: "https://app.example/other" }, { app: native });
    expect([status, to]).toEqual([400, null]);
  },
  "RFC 8252 8.4: an app with a scheme of its own registers the whole address": async () => {
    const native = await world.makeApp({ type: "PUBLIC", redirectUris: ["com.example.app:/callback"] });
    const { status, to } = await world.authorize({ redirect_uri: "com.example.app:/other" }, { app: native });
    expect([status, to]).toEqual([400, null]);
  },
  "RFC 8252 8.4: a confidential app gets no scheme of its own": () =>
    expect(world.makeApp({ redirectUris: ["com.example.app:/callback"] })).rejects.toMatchObject({
      code: "uri_refused",
    }),
  "RFC 8252 8.6: who has not agreed to an app without a secret is asked": async () => {
    const native = await world.makeApp({ type: "PUBLIC", redirectUris: ["com.example.app:/callback"] });
    expect((await world.authorize({}, { app: native })).to!.pathname).toMatch(/^\/interaction\//);
  },
});

const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");

/** Exchanges a new code, with other fields than the right ones. */
async function exchangeWith(fields: Params, params: Params = {}): Promise<Answer> {
  const authorized = await world.authorize(params);
  return world.token({ ...world.fieldsOf(authorized), ...fields });
}

const refusal = ({ status, body }: Answer) => [status, body.error];
const userinfo = async (token: string) => (await world.read("/oauth2/userinfo", token)).status;

tryRules({
  "RFC 6749 4.1.2: a code expires shortly after it was issued": async () => {
    const authorized = await world.authorize();
    world.service.clock.forwardSeconds(61);
    expect(refusal(await world.token(world.fieldsOf(authorized)))).toEqual([400, "invalid_grant"]);
  },
  "RFC 6749 4.1.2: a code is good once, and when it is used again the tokens that it gave end": async () => {
    const fields = world.fieldsOf(await world.authorize({}, { scope: "openid offline_access" }));
    const { body } = await world.token(fields);
    expect(await userinfo(body.access_token)).toBe(200);
    expect(refusal(await world.token(fields))).toEqual([400, "invalid_grant"]);
    expect(await userinfo(body.access_token)).toBe(401);
    expect(refusal(await world.token({ grant_type: "refresh_token", refresh_token: body.refresh_token! }))).toEqual([
      400,
      "invalid_grant",
    ]);
  },
  "RFC 6749 4.1.3: a code of another client is refused, and not spent by the try": async () => {
    const other = await world.makeApp();
    const fields = world.fieldsOf(await world.authorize());
    expect(refusal(await world.token(fields, { app: other }))).toEqual([400, "invalid_grant"]);
    expect((await world.token(fields)).status).toBe(200);
  },
  "RFC 6749 4.1.3: a code is refused with another redirect URI": async () =>
    expect(refusal(await exchangeWith({ redirect_uri: "http://127.0.0.1:4999/other" }))).toEqual([
      400,
      "invalid_grant",
    ]),
  "RFC 6749 4.1.3: a code is refused without its redirect URI": async () => {
    const { status, body } = await exchangeWith({ redirect_uri: null });
    expect([status, ["invalid_grant", "invalid_request"].includes(body.error!)]).toEqual([400, true]);
  },
  "RFC 6749 4.1.3: a confidential client authenticates to exchange a code": async () => {
    const fields = world.fieldsOf(await world.authorize());
    const { status, body } = await world.token({ ...fields, client_id: world.app.clientId }, { headers: {} });
    expect([status, body.access_token]).toEqual([400, undefined]);
  },
  "RFC 6749 4.1.3: a request without a code is an invalid request": async () =>
    expect(refusal(await exchangeWith({ code: null }))).toEqual([400, "invalid_request"]),
  "RFC 6749 10.10: a guessed code is an invalid grant": async () => {
    for (const code of ["x", "0".repeat(43), "'; DROP TABLE oidc_artifact; --"])
      expect(refusal(await exchangeWith({ code }))).toEqual([400, "invalid_grant"]);
  },
  "RFC 6749 10.5: a code is refused as an access token": async () => {
    const { code } = await world.authorize();
    expect(await userinfo(code!)).toBe(401);
  },
  "RFC 7636 4.1: a verifier has 43 to 128 characters, and no others than those of the rule": async () => {
    const tried = async (verifier: string) => {
      const fields = { code_verifier: verifier };
      return (await exchangeWith(fields, { code_challenge: challengeOf(verifier) })).status;
    };
    const [shortest, longest] = ["a".repeat(43), "a-._~9Z".repeat(19).slice(0, 128)];
    expect([await tried(shortest), await tried(longest)]).toEqual([200, 200]);
    for (const wrong of [shortest.slice(1), `${longest}a`, `${shortest.slice(1)}+`])
      expect([wrong, await tried(wrong)]).toEqual([wrong, 400]);
  },
  "RFC 7636 4.4.1: a public client without a challenge gets invalid_request": async () =>
    expect((await world.authorize(withoutChallenge, { app: world.spa })).error).toBe("invalid_request"),
  "RFC 7636 4.6: a wrong verifier, the challenge itself and no verifier are refused": async () => {
    const authorized = await world.authorize();
    for (const code_verifier of ["b".repeat(43), challengeOf(authorized.verifier), null]) {
      const { status, body } = await world.token({ ...world.fieldsOf(authorized), code_verifier });
      expect([code_verifier, status, body.access_token]).toEqual([code_verifier, 400, undefined]);
    }
  },
  "RFC 7636 4.6: a public client's code needs the verifier alone": async () => {
    const authorized = await world.authorize({}, { app: world.spa });
    expect((await world.token(world.fieldsOf(authorized, world.spa), { app: world.spa })).status).toBe(200);
  },
  "RFC 7636 1: a stolen code of a public client is worth nothing without the verifier": async () => {
    const { code } = await world.authorize({}, { app: world.spa });
    const stolen = { ...world.fieldsOf(await world.authorize({}, { app: world.spa }), world.spa), code };
    expect(refusal(await world.token(stolen, { app: world.spa }))).toEqual([400, "invalid_grant"]);
  },
  "RFC 9700 4.5.3: a code injected into another session of the same client is refused": async () => {
    const stolen = await world.authorize();
    const own = await world.authorize();
    const answer = await world.token({ ...world.fieldsOf(own), code: stolen.code });
    expect(refusal(answer)).toEqual([400, "invalid_grant"]);
  },
  "RFC 9700 4.8.2: a verifier for a code without a challenge is refused": async () => {
    const lax = await world.makeApp({ pkceRequired: false });
    const { back } = await signOn(world.service, lax, world.login, { browser: world.browser, pkce: false });
    const fields = {
      grant_type: "authorization_code",
      code: back.searchParams.get("code"),
      redirect_uri: lax.redirectUri,
      code_verifier: askFor(world.service, lax).verifier,
    };
    expect(refusal(await world.token(fields, { app: lax }))).toEqual([400, "invalid_grant"]);
  },
  "RFC 9700 4.8.2: a client that was registered without PKCE and uses it is held to it": async () => {
    const lax = await world.makeApp({ pkceRequired: false });
    const { back } = await signOn(world.service, lax, world.login, { browser: world.browser });
    const fields = {
      grant_type: "authorization_code",
      code: back.searchParams.get("code"),
      redirect_uri: lax.redirectUri,
    };
    expect((await world.token(fields, { app: lax })).status).toBe(400);
  },
  "RFC 8252 8.5: nobody gets tokens with the id of a confidential app alone": async () => {
    const authorized = await world.authorize();
    const headers = basic({ ...world.app, clientSecret: "" });
    expect((await world.token(world.fieldsOf(authorized), { headers })).body.access_token).toBeUndefined();
  },
});
