import { createHash } from "node:crypto";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from "jose";
import { beforeAll, expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, basic } from "../../support/token.ts";
import { discover, peopleRead, signInAnother, startRuleWorld } from "./world.ts";

const world = startRuleWorld();
const anonymous = () => makeBrowser(world.service.url);
const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

const readKeys = async () =>
  (await (await fetch(`${world.service.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;

let keys: JSONWebKeySet;
let claims: Record<string, unknown>;
let token: Awaited<ReturnType<typeof world.tokens>>;
let header: ReturnType<typeof decodeProtectedHeader>;
beforeAll(async () => {
  keys = await readKeys();
  token = await world.tokens("openid profile");
  claims = decodeJwt(token.id_token!);
  header = decodeProtectedHeader(token.id_token!);
});

const userinfo = (init: RequestInit = {}) => fetch(`${world.service.url}/oauth2/userinfo`, init);
const bearer = (value: string) => ({ headers: { authorization: `Bearer ${value}` } });

test("OpenID Connect Core 2: the issuer of an ID token is that of discovery", async () => {
  expect(claims["iss"]).toBe((await discover(world))["issuer"]);
});

test("OpenID Connect Core 2: the subject is at most 255 ASCII characters", () => {
  expect(claims["sub"]).toMatch(/^[\x21-\x7e]{1,255}$/);
});

test("OpenID Connect Core 2: the audience is the app and nobody else", () => {
  expect(claims["aud"]).toEqual([world.app.clientId]);
});

test("OpenID Connect Core 2: an ID token expires after it was issued", () => {
  expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(3600);
});

test("OpenID Connect Core 2: the time of the sign-in lies before the issue", () => {
  expect(Number(claims["auth_time"])).toBeLessThanOrEqual(Number(claims["iat"]));
});

test("OpenID Connect Core 2: the nonce of the request is in the ID token", async () => {
  const authorized = await world.authorize({ nonce: "n-0S6_WzA2Mj" });
  const { body } = await world.token(world.fieldsOf(authorized));
  expect(decodeJwt(body.id_token!)["nonce"]).toBe("n-0S6_WzA2Mj");
});

test("OpenID Connect Core 2: without a nonce in the request the ID token has none", async () => {
  const authorized = await world.authorize({ nonce: null });
  const { body } = await world.token(world.fieldsOf(authorized));
  expect(decodeJwt(body.id_token!)).not.toHaveProperty("nonce");
});

test("OpenID Connect Core 2: an ID token is signed and never of the algorithm none", async () => {
  expect(header.alg).toBe("RS256");
  expect((await discover(world))["id_token_signing_alg_values_supported"]).not.toContain("none");
});

test("OpenID Connect Core 2: a header names its key by an id and not by an address or the key itself", () => {
  expect(Object.keys(header)).toEqual(expect.arrayContaining(["alg", "kid"]));
  for (const name of ["x5u", "jku", "jwk", "x5c"]) expect(header).not.toHaveProperty(name);
});

test("OpenID Connect Core 3.1.2.1: without the scope openid there is no ID token", async () => {
  expect((await world.tokens(peopleRead)).id_token).toBeUndefined();
});

test("OpenID Connect Core 3.1.2.1: prompt=none shows no page to who is not signed in", async () => {
  expect((await world.authorize({ prompt: "none" }, { browser: anonymous() })).error).toBe("login_required");
});

test("OpenID Connect Core 3.1.2.1: prompt=none with another value is an invalid request", async () => {
  for (const prompt of ["none login", "consent none"])
    expect((await world.authorize({ prompt })).error).toBe("invalid_request");
});

test("OpenID Connect Core 3.1.2.1: prompt=login asks again for the password", async () => {
  const { to, code } = await world.authorize({ prompt: "login" });
  expect(code).toBeNull();
  expect((await world.browser.open(to!.href)).html).toContain('type="password"');
});

test("OpenID Connect Core 3.1.2.1: prompt=consent asks again for the agreement", async () => {
  const { to } = await world.authorize({ prompt: "consent" });
  expect((await world.browser.open(to!.href)).html).toContain("/consent");
});

test("OpenID Connect Core 3.1.2.1: max_age that has passed asks again for the password", async () => {
  expect((await world.authorize({ max_age: "0" })).to!.pathname).toMatch(/^\/interaction\//);
});

test("OpenID Connect Core 3.1.2.1: max_age that has not passed asks nothing, and auth_time is told", async () => {
  const { body } = await world.token(world.fieldsOf(await world.authorize({ max_age: "10000" })));
  expect(decodeJwt(body.id_token!)["auth_time"]).toBeTypeOf("number");
});

test("OpenID Connect Core 3.1.2.1: max_age that is no number is an invalid request", async () => {
  for (const age of ["-1", "x", "1e3", "0x10", "1.5"])
    expect([age, (await world.authorize({ max_age: age })).error]).toEqual([age, "invalid_request"]);
});

test("OpenID Connect Core 3.1.2.1: display changes nothing of what is asked", async () => {
  for (const display of ["page", "popup", "touch", "wap"])
    expect((await world.authorize({ display })).code).not.toBeNull();
});

test("OpenID Connect Core 3.1.2.1: ui_locales chooses the language of the pages", async () => {
  const page = async (locales: string) =>
    (await anonymous().open(askFor(world.service, world.app, { params: { ui_locales: locales } }).address)).html;
  expect([await page("en"), await page("de")]).toEqual([
    expect.stringContaining('<html lang="en"'),
    expect.stringContaining('<html lang="de"'),
  ]);
});

test("OpenID Connect Core 3.1.2.1: a language that is not spoken is no error", async () => {
  expect((await world.authorize({ ui_locales: "se tlh" })).code).not.toBeNull();
});

test("OpenID Connect Core 3.1.2.1: id_token_hint of the signed-in person gives a code", async () => {
  expect((await world.authorize({ prompt: "none", id_token_hint: token.id_token! })).code).not.toBeNull();
});

test("OpenID Connect Core 3.1.2.1: id_token_hint of another person with prompt=none gives login_required", async () => {
  const other = await signInAnother(world);
  const { error, code } = await world.authorize({ prompt: "none", id_token_hint: other.id_token! });
  expect([error, code]).toEqual(["login_required", null]);
});

test("OpenID Connect Core 3.1.2.1: acr_values is a wish that nothing fails on", async () => {
  const authorized = await world.authorize({ acr_values: "urn:mace:incommon:iap:silver urn:schultor:acr:mfa" });
  const { body } = await world.token(world.fieldsOf(authorized));
  expect(decodeJwt(body.id_token!)["acr"]).toBe("urn:schultor:acr:password");
  expect(claims).not.toHaveProperty("acr");
  expect((await discover(world))["acr_values_supported"]).toContain("urn:schultor:acr:password");
});

test("OpenID Connect Core 3.1.2.2: a scope of the standard that is not offered is passed over", async () => {
  expect((await world.tokens("openid email phone address")).scope).toBe("openid");
});

test("OpenID Connect Core 3.1.2.2: a forged id_token_hint is refused", async () => {
  const forged = `${token.id_token!.slice(0, -6)}AAAAAA`;
  expect((await world.authorize({ prompt: "none", id_token_hint: forged })).error).toBe("invalid_request");
});

test("OpenID Connect Core 3.1.2.2: an unsigned id_token_hint is refused", async () => {
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${token.id_token!.split(".")[1]!}.`;
  expect((await world.authorize({ prompt: "none", id_token_hint: unsigned })).error).toBe("invalid_request");
});

test("OpenID Connect Core 3.1.2.4: a person is asked for agreement once for an app", async () => {
  const app = await world.makeApp();
  expect((await world.authorize({}, { app })).code).toBeNull();
  expect((await world.authorize()).code).not.toBeNull();
});

test("OpenID Connect Core 3.1.2.4: more scopes than were agreed to are asked for again", async () => {
  expect((await world.authorize({}, { scope: "openid role" })).to!.pathname).toMatch(/^\/interaction\//);
});

test("OpenID Connect Core 3.1.2.6: without agreement prompt=none gives consent_required", async () => {
  const app = await world.makeApp();
  expect((await world.authorize({ prompt: "none" }, { app })).error).toBe("consent_required");
});

test("OpenID Connect Core 3.1.2.6: a request object is refused as not supported", async () => {
  expect((await world.authorize({ request: "eyJhbGciOiJub25lIn0.e30." })).error).toBe("request_not_supported");
  expect((await discover(world))["request_parameter_supported"] ?? false).toBe(false);
});

test("OpenID Connect Core 3.1.2.6: the address of a request object is refused and not read", async () => {
  expect((await world.authorize({ request_uri: "https://evil.example/r" })).error).toBe("request_uri_not_supported");
  expect((await discover(world))["request_uri_parameter_supported"]).toBe(false);
});

test("OpenID Connect Core 3.1.2.6: a registration in the request is refused as not supported", async () => {
  const { error } = await world.authorize({ registration: '{"client_name":"x"}' });
  expect(error).toBe("registration_not_supported");
});

test("OpenID Connect Core 3.1.3.3: a code gives access token, type, lifetime and ID token", () => {
  expect(token).toMatchObject({ token_type: "bearer", expires_in: 3600 });
  expect([typeof token.access_token, typeof token.id_token]).toEqual(["string", "string"]);
});

test("OpenID Connect Core 3.1.3.3: an answer with tokens is kept by no cache", async () => {
  const { headers } = await world.token(world.fieldsOf(await world.authorize()));
  expect(headers.get("cache-control")).toContain("no-store");
});

test("OpenID Connect Core 3.1.3.6: at_hash belongs to the access token", () => {
  const hash = createHash("sha256").update(token.access_token).digest().subarray(0, 16).toString("base64url");
  expect(claims["at_hash"]).toBe(hash);
});

test("OpenID Connect Core 3.1.3.7: an ID token verifies with the published keys", async () => {
  const { payload } = await jwtVerify(token.id_token!, createLocalJWKSet(keys), {
    issuer: world.service.url,
    audience: world.app.clientId,
  });
  expect(payload.sub).toBe(world.pupil);
});

test("OpenID Connect Core 3.1.3.7: each app gets the signature that it registered", async () => {
  for (const alg of ["ES256", "EdDSA"] as const) {
    const app = await world.makeApp({ idTokenAlgorithm: alg });
    const { to } = await world.authorize({}, { app });
    await world.browser.submit(await world.browser.open(to!.href), "/consent");
    const { id_token: signed } = await world.tokens("openid", { app });
    const { protectedHeader } = await jwtVerify(signed!, createLocalJWKSet(await readKeys()));
    expect(protectedHeader.alg).toBe(alg);
  }
});

test("OpenID Connect Core 5.3.1: userinfo answers GET", async () => {
  expect((await userinfo(bearer(token.access_token))).status).toBe(200);
});

test("OpenID Connect Core 5.3.1: userinfo answers POST with the token in the header", async () => {
  expect((await userinfo({ method: "POST", ...bearer(token.access_token) })).status).toBe(200);
});

test("OpenID Connect Core 5.3.1: userinfo answers POST with the token in the form", async () => {
  const body = new URLSearchParams({ access_token: token.access_token });
  expect((await userinfo({ method: "POST", body })).status).toBe(200);
});

test("OpenID Connect Core 5.3.2: userinfo is JSON with the subject of the ID token", async () => {
  const response = await userinfo(bearer(token.access_token));
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  expect(await response.json()).toMatchObject({ sub: claims["sub"] });
});

test("OpenID Connect Core 5.3.3: an unknown token is told as RFC 6750 says", async () => {
  const response = await userinfo(bearer("unknown"));
  expect([response.status, response.headers.get("www-authenticate")]).toEqual([
    401,
    expect.stringContaining('error="invalid_token"'),
  ]);
});

test("OpenID Connect Core 5.3.3: a token without the scope openid gets no claims", async () => {
  const { access_token } = await world.tokens(peopleRead);
  expect((await userinfo(bearer(access_token))).status).toBe(403);
});

test("OpenID Connect Core 5.4: a scope gives its claims, and no scope gives none", async () => {
  const plain = (await (await userinfo(bearer((await world.tokens("openid")).access_token))).json()) as object;
  expect(Object.keys(plain)).toEqual(["sub"]);
  expect(await (await userinfo(bearer(token.access_token))).json()).toHaveProperty("family_name");
});

test("OpenID Connect Core 5.5: the parameter claims is not offered and gives nothing", async () => {
  expect((await discover(world))["claims_parameter_supported"] ?? false).toBe(false);
  const asked = JSON.stringify({ userinfo: { family_name: { essential: true } } });
  const { access_token } = await world.tokens("openid", { params: { claims: asked } });
  expect(await (await userinfo(bearer(access_token))).json()).not.toHaveProperty("family_name");
});

test("OpenID Connect Core 5.7: a person is the same subject at every sign-on", async () => {
  expect(decodeJwt((await world.tokens()).id_token!).sub).toBe(claims["sub"]);
});

test("OpenID Connect Core 5.7: two people are two subjects", async () => {
  expect(decodeJwt((await signInAnother(world)).id_token!).sub).not.toBe(claims["sub"]);
});

test("OpenID Connect Core 8: discovery names shared and pairwise subjects", async () => {
  expect((await discover(world))["subject_types_supported"]).toEqual(["public", "pairwise"]);
});

test("OpenID Connect Core 9: a confidential app authenticates by client_secret_basic", async () => {
  const body = new URLSearchParams({ grant_type: "client_credentials" });
  const init = { method: "POST", headers: basic(world.app), body };
  expect((await fetch(`${world.service.url}/oauth2/token`, init)).status).toBe(200);
});

test("OpenID Connect Core 10.1: published keys have ids of their own and no private half", () => {
  expect(new Set(keys.keys.map(({ kid }) => kid)).size).toBe(keys.keys.length);
  for (const key of keys.keys)
    for (const secret of ["d", "p", "q", "dp", "dq", "qi", "k"]) expect(key).not.toHaveProperty(secret);
});

test("OpenID Connect Core 10.1: no published key is symmetric", () => {
  expect(keys.keys.map(({ kty }) => kty)).not.toContain("oct");
});

test("OpenID Connect Core 10.1: keys are for signing", () => {
  expect(new Set(keys.keys.map(({ use }) => use))).toEqual(new Set(["sig"]));
});

test("OpenID Connect Core 10.1: an RSA key has at least 2048 bits", () => {
  for (const { n } of keys.keys.filter(({ kty }) => kty === "RSA"))
    expect(Buffer.from(n!, "base64url").length).toBeGreaterThanOrEqual(256);
});

test("OpenID Connect Core 10.1.1: the next key is published before it signs", () => {
  const ofRsa = keys.keys.filter(({ alg }) => alg === "RS256");
  expect(ofRsa.length).toBeGreaterThan(1);
  expect(ofRsa.map(({ kid }) => kid)).toContain(header.kid);
});

test("OpenID Connect Core 11: a refresh token is given for offline_access only", async () => {
  expect(token.refresh_token).toBeUndefined();
  expect((await world.tokens("openid offline_access")).refresh_token).toBeTypeOf("string");
});

test("OpenID Connect Core 12.2: an ID token of a refresh keeps issuer, subject, audience and time of the sign-in", async () => {
  const first = await world.tokens("openid offline_access");
  const { body } = await world.token({ grant_type: "refresh_token", refresh_token: first.refresh_token! });
  const [before, after] = [decodeJwt(first.id_token!), decodeJwt(body.id_token!)];
  for (const name of ["iss", "sub", "aud", "auth_time", "sid"])
    expect([name, after[name]]).toEqual([name, before[name]]);
});

test("OpenID Connect Core 12.2: an ID token of a refresh says when it was issued itself", async () => {
  const first = await world.tokens("openid offline_access");
  const { body } = await world.token({ grant_type: "refresh_token", refresh_token: first.refresh_token! });
  const { iat, exp } = decodeJwt(body.id_token!);
  expect(iat!).toBeGreaterThanOrEqual(decodeJwt(first.id_token!).iat!);
  expect(Math.abs(iat! - seconds(new Date()))).toBeLessThan(300);
  expect(exp! - iat!).toBe(3600);
});

test("OpenID Connect Core 15.5.2: an ID token holds no name unless a scope asks for it", async () => {
  const plain = decodeJwt((await world.tokens("openid")).id_token!);
  for (const name of ["given_name", "family_name", "school", "role", "email"]) expect(plain).not.toHaveProperty(name);
});

test("OpenID Connect Core 16.11: a token of one app is inactive for another", async () => {
  const other = await world.makeApp();
  const body = new URLSearchParams({ token: token.access_token });
  const init = { method: "POST", headers: basic(other), body };
  expect(await (await fetch(`${world.service.url}/oauth2/introspect`, init)).json()).toEqual({ active: false });
});

test("OpenID Connect Core 16.14: the signature cannot be chosen by whoever asks", async () => {
  const { id_token: signed } = await world.tokens("openid", { params: { id_token_signed_response_alg: "none" } });
  expect(decodeProtectedHeader(signed!).alg).toBe("RS256");
});

test("OpenID Connect Core 16.20: no wildcard origin may read tokens with the person's cookies", async () => {
  const response = await userinfo({ headers: { origin: "https://evil.example" } });
  expect(response.headers.get("access-control-allow-credentials")).toBeNull();
});

test("RFC 9700 4.5.3.2: a nonce of another session shows that a code was injected", async () => {
  const [victim, attacker] = [await world.authorize(), await world.authorize()];
  const { body } = await world.token(world.fieldsOf(attacker));
  expect(decodeJwt(body.id_token!)["nonce"]).not.toBe(victim.nonce);
});
