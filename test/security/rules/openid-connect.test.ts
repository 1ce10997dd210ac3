import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from "jose";
import { beforeAll, expect } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, basic } from "../../support/token.ts";
import { discover, peopleRead, signInAnother, startRuleWorld, tryRules } from "./world.ts";

const world = startRuleWorld();
const anonymous = () => makeBrowser(world.service.url);

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

tryRules({
  "OpenID Connect Core 2: the audience is the app and nobody else": () =>
    expect(claims["aud"]).toEqual([world.app.clientId]),
  "OpenID Connect Core 2: a header names its key by an id and not by an address or the key itself": () => {
    expect(Object.keys(header)).toEqual(expect.arrayContaining(["alg", "kid"]));
    for (const name of ["x5u", "jku", "jwk", "x5c"]) expect(header).not.toHaveProperty(name);
  },
  "OpenID Connect Core 3.1.2.1: without the scope openid there is no ID token": async () =>
    expect((await world.tokens(peopleRead)).id_token).toBeUndefined(),
  "OpenID Connect Core 3.1.2.1: prompt=login asks again for the password": async () => {
    const { to, code } = await world.authorize({ prompt: "login" });
    expect(code).toBeNull();
    expect((await world.browser.open(to!.href)).html).toContain('type="password"');
  },
  "OpenID Connect Core 3.1.2.1: prompt=consent asks again for the agreement": async () => {
    const { to } = await world.authorize({ prompt: "consent" });
    expect((await world.browser.open(to!.href)).html).toContain("/consent");
  },
  "OpenID Connect Core 3.1.2.1: max_age that has passed asks again for the password": async () =>
    expect((await world.authorize({ max_age: "0" })).to!.pathname).toMatch(/^\/interaction\//),
  "OpenID Connect Core 3.1.2.1: max_age that has not passed asks nothing, and auth_time is told": async () => {
    const { body } = await world.token(world.fieldsOf(await world.authorize({ max_age: "10000" })));
    expect(decodeJwt(body.id_token!)["auth_time"]).toBeTypeOf("number");
  },
  "OpenID Connect Core 3.1.2.1: ui_locales chooses the language of the pages": async () => {
    const page = async (locales: string) =>
      (await anonymous().open(askFor(world.service, world.app, { params: { ui_locales: locales } }).address)).html;
    expect([await page("en"), await page("de")]).toEqual([
      expect.stringContaining('<html lang="en"'),
      expect.stringContaining('<html lang="de"'),
    ]);
  },
  "OpenID Connect Core 3.1.2.1: id_token_hint of another person with prompt=none gives login_required": async () => {
    const other = await signInAnother(world);
    const { error, code } = await world.authorize({ prompt: "none", id_token_hint: other.id_token! });
    expect([error, code]).toEqual(["login_required", null]);
  },
  "OpenID Connect Core 3.1.2.1: acr_values is a wish that nothing fails on": async () => {
    const authorized = await world.authorize({ acr_values: "urn:mace:incommon:iap:silver urn:schultor:acr:mfa" });
    const { body } = await world.token(world.fieldsOf(authorized));
    expect(decodeJwt(body.id_token!)["acr"]).toBe("urn:schultor:acr:password");
    expect(claims).not.toHaveProperty("acr");
    expect((await discover(world))["acr_values_supported"]).toContain("urn:schultor:acr:password");
  },
  "OpenID Connect Core 3.1.2.2: a scope of the standard that is not offered is passed over": async () =>
    expect((await world.tokens("openid email phone address")).scope).toBe("openid"),
  "OpenID Connect Core 3.1.2.2: a forged id_token_hint is refused": async () => {
    const forged = `${token.id_token!.slice(0, -6)}AAAAAA`;
    expect((await world.authorize({ prompt: "none", id_token_hint: forged })).error).toBe("invalid_request");
  },
  "OpenID Connect Core 3.1.2.2: an unsigned id_token_hint is refused": async () => {
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${token.id_token!.split(".")[1]!}.`;
    expect((await world.authorize({ prompt: "none", id_token_hint: unsigned })).error).toBe("invalid_request");
  },
  "OpenID Connect Core 3.1.2.4: a person is asked for agreement once for an app": async () => {
    const app = await world.makeApp();
    expect((await world.authorize({}, { app })).code).toBeNull();
    expect((await world.authorize()).code).not.toBeNull();
  },
  "OpenID Connect Core 3.1.2.4: more scopes than were agreed to are asked for again": async () =>
    expect((await world.authorize({}, { scope: "openid role" })).to!.pathname).toMatch(/^\/interaction\//),
  "OpenID Connect Core 3.1.2.6: without agreement prompt=none gives consent_required": async () => {
    const app = await world.makeApp();
    expect((await world.authorize({ prompt: "none" }, { app })).error).toBe("consent_required");
  },
  "OpenID Connect Core 3.1.3.3: an answer with tokens is kept by no cache": async () => {
    const { headers } = await world.token(world.fieldsOf(await world.authorize()));
    expect(headers.get("cache-control")).toContain("no-store");
  },
  "OpenID Connect Core 3.1.3.7: each app gets the signature that it registered": async () => {
    for (const alg of ["ES256", "EdDSA"] as const) {
      const app = await world.makeApp({ idTokenAlgorithm: alg });
      const { to } = await world.authorize({}, { app });
      await world.browser.submit(await world.browser.open(to!.href), "/consent");
      const { id_token: signed } = await world.tokens("openid", { app });
      const { protectedHeader } = await jwtVerify(signed!, createLocalJWKSet(await readKeys()));
      expect(protectedHeader.alg).toBe(alg);
    }
  },
  "OpenID Connect Core 5.3.3: an unknown token is told as RFC 6750 says": async () => {
    const response = await userinfo(bearer("unknown"));
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
  },
  "OpenID Connect Core 5.3.3: a token without the scope openid gets no claims": async () => {
    const { access_token } = await world.tokens(peopleRead);
    expect((await userinfo(bearer(access_token))).status).toBe(403);
  },
  "OpenID Connect Core 5.4: a scope gives its claims, and no scope gives none": async () => {
    const plain = (await (await userinfo(bearer((await world.tokens("openid")).access_token))).json()) as object;
    expect(Object.keys(plain)).toEqual(["sub"]);
    expect(await (await userinfo(bearer(token.access_token))).json()).toHaveProperty("family_name");
  },
  "OpenID Connect Core 5.7: two people are two subjects": async () =>
    expect(decodeJwt((await signInAnother(world)).id_token!).sub).not.toBe(claims["sub"]),
  "OpenID Connect Core 10.1: keys are for signing": () =>
    expect(new Set(keys.keys.map(({ use }) => use))).toEqual(new Set(["sig"])),
  "OpenID Connect Core 10.1: an RSA key has at least 2048 bits": () => {
    for (const { n } of keys.keys.filter(({ kty }) => kty === "RSA"))
      expect(Buffer.from(n!, "base64url").length).toBeGreaterThanOrEqual(256);
  },
  "OpenID Connect Core 11: a refresh token is given for offline_access only": async () => {
    expect(token.refresh_token).toBeUndefined();
    expect((await world.tokens("openid offline_access")).refresh_token).toBeTypeOf("string");
  },
  "OpenID Connect Core 12.2: an ID token of a refresh keeps issuer, subject, audience and time of the sign-in":
    async () => {
      const first = await world.tokens("openid offline_access");
      const { body } = await world.token({ grant_type: "refresh_token", refresh_token: first.refresh_token! });
      const [before, after] = [decodeJwt(first.id_token!), decodeJwt(body.id_token!)];
      for (const name of ["iss", "sub", "aud", "auth_time", "sid", "rat"])
        expect([name, after[name]]).toEqual([name, before[name]]);
    },
  "OpenID Connect Core 12.2: an ID token of a refresh says when it was issued itself": async () => {
    const first = await world.tokens("openid offline_access");
    const { body } = await world.token({ grant_type: "refresh_token", refresh_token: first.refresh_token! });
    const { iat, exp } = decodeJwt(body.id_token!);
    expect(iat!).toBeGreaterThanOrEqual(decodeJwt(first.id_token!).iat!);
    expect(exp! - iat!).toBe(3600);
  },
  "OpenID Connect Core 15.5.2: an ID token holds no name unless a scope asks for it": async () => {
    const plain = decodeJwt((await world.tokens("openid")).id_token!);
    for (const name of ["given_name", "family_name", "school", "role", "email"]) expect(plain).not.toHaveProperty(name);
  },
  "OpenID Connect Core 16.11: a token of one app is inactive for another": async () => {
    const other = await world.makeApp();
    const body = new URLSearchParams({ token: token.access_token });
    const init = { method: "POST", headers: basic(other), body };
    expect(await (await fetch(`${world.service.url}/oauth2/introspect`, init)).json()).toEqual({ active: false });
  },
  "OpenID Connect Core 16.14: the signature cannot be chosen by whoever asks": async () => {
    const { id_token: signed } = await world.tokens("openid", { params: { id_token_signed_response_alg: "none" } });
    expect(decodeProtectedHeader(signed!).alg).toBe("RS256");
  },
  "OpenID Connect Core 16.20: no wildcard origin may read tokens with the person's cookies": async () => {
    const response = await userinfo({ headers: { origin: "https://evil.example" } });
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  },
  "RFC 9700 4.5.3.2: a nonce of another session shows that a code was injected": async () => {
    const [victim, attacker] = [await world.authorize(), await world.authorize()];
    const { body } = await world.token(world.fieldsOf(attacker));
    expect(decodeJwt(body.id_token!)["nonce"]).not.toBe(victim.nonce);
  },
});
