import { randomUUID } from "node:crypto";
import { type CryptoKey, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect } from "vitest";
import { checkCalledUri } from "../../../../src/access/index.ts";
import { readConfig } from "../../../../src/config/index.ts";
import type { AdminClient } from "../../../support/admin.ts";
import { answer, startReceiver } from "../../../support/receiver.ts";
import type { TestApp } from "../../../support/token.ts";
import { differs, type Module, notApplicable, type Suite } from "./flow.ts";

export async function expectAddresses({ discovery, world }: Suite): Promise<Record<string, unknown>> {
  const document = await discovery();
  for (const [name, address] of Object.entries(document))
    if (name.endsWith("_endpoint")) expect([name, new URL(String(address)).origin]).toEqual([name, world.service.url]);
  expect(() => readConfig({ NODE_ENV: "production", ISSUER_URL: "http://login.example.org" })).toThrow(/https:\/\//);
  return document;
}

export const config: Record<string, Module> = {
  "oidcc-discovery-endpoint-verification": async (suite) => {
    const { url } = suite.world.service;
    const response = await fetch(`${url}/.well-known/openid-configuration`);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^application\/json/),
    ]);
    const document = await expectAddresses(suite);
    expect(document["issuer"]).toBe(url);
    expect(document["response_types_supported"]).toContain("code");
    expect(document["subject_types_supported"]).toEqual(["public", "pairwise"]);
    expect(document["id_token_signing_alg_values_supported"]).toContain("RS256");
    for (const name of ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"])
      expect(document[name]).toMatch(new RegExp(`^${url}/`));
    for (const name of ["claims_supported", "grant_types_supported", "code_challenge_methods_supported"])
      expect([name, Array.isArray(document[name])]).toEqual([name, true]);
    expect(document["scopes_supported"]).toContain("openid");
    for (const scope of document["scopes_supported"] as string[]) expect(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
    const locales = document["ui_locales_supported"] as string[];
    expect(Intl.getCanonicalLocales(locales)).toEqual(locales);
    const { keys } = await suite.keys();
    expect(keys.filter((key) => "d" in key || key.kty === "oct")).toEqual([]);
  },
};

const loginUrl = "https://rp.example/login";
const asRegistered = "Operators and partners register apps with the admin API; there is no dynamic registration.";

export const makeThirdParty = (operator: () => AdminClient): Record<string, Module> => ({
  "oidcc-3rd_party-init-login": async ({ discovery }) => {
    expect(await discovery()).not.toHaveProperty("registration_endpoint");
    const made = await operator()("POST", "/apps", { body: { ...newApp, loginUrl } });
    const { clientId } = made.body as { clientId: string };
    const read = await operator()("GET", `/apps/${clientId}`);
    expect([made.status, read.status]).toEqual([201, 200]);
    expect(read.body).toMatchObject({ loginUrl });
    return differs(`${asRegistered} Reading the app returns the address as \`loginUrl\`.`);
  },
  "oidcc-3rd_party-init-login-nohttps": async () => {
    const made = await operator()("POST", "/apps", { body: { ...newApp, loginUrl: "http://rp.example/login" } });
    expect([made.status, (made.body as { code: string }).code]).toEqual([400, "uri_refused"]);
    return differs(`${asRegistered} It refuses the address with 400 \`uri_refused\`.`);
  },
});

const newApp = { name: "Conformance", redirectUris: ["https://rp.example/callback"], scopes: ["openid"] };

const withoutRegistration: Module = async ({ discovery }) => {
  expect(await discovery()).not.toHaveProperty("registration_endpoint");
  return notApplicable("There is no dynamic registration.");
};
const withoutRequestUri: Module = async ({ discovery }) => {
  expect((await discovery())["request_uri_parameter_supported"]).toBe(false);
  return notApplicable("Request objects are not read.");
};
type Key = { kid: string; privateKey: CryptoKey; jwk: object };

async function makeKey(kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

async function authenticate({ world }: Suite, { clientId }: TestApp, { kid, privateKey }: Key) {
  const jwt = new SignJWT({ iss: clientId, sub: clientId, aud: world.service.url, jti: randomUUID() });
  const client_assertion = await jwt.setProtectedHeader({ alg: "ES256", kid }).setExpirationTime("1m").sign(privateKey);
  return { client_assertion, client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" };
}

export const makeDynamic = (operator: () => AdminClient): Record<string, Module> => ({
  "oidcc-idtoken-rs256": async ({ world, complete }) => {
    const app = await world.makeApp({ pkceRequired: false, idTokenAlgorithm: "RS256" });
    const { tokens } = await complete({}, { app });
    expect(decodeProtectedHeader(tokens.id_token!)).toMatchObject({ alg: "RS256", kid: expect.any(String) as string });
  },
  "oidcc-userinfo-rs256": async ({ discovery }) => {
    expect(await discovery()).not.toHaveProperty("userinfo_signing_alg_values_supported");
    return notApplicable("Userinfo is plain JSON.");
  },
  "oidcc-ensure-redirect-uri-in-authorization-request": async ({ authorize, expectErrorPage }) => {
    expectErrorPage(await authorize({ redirect_uri: null }));
  },
  "oidcc-redirect-uri-query-OK": async ({ world, client, authorize, complete }) => {
    const app = await world.makeApp({ pkceRequired: false, redirectUris: [`${client.redirectUri}?foo=bar`] });
    await complete({}, { app });
    expect((await authorize({}, { app })).callback!.params.get("foo")).toBe("bar");
  },
  "oidcc-redirect-uri-query-mismatch": async ({ world, client, authorize, expectErrorPage }) => {
    const app = await world.makeApp({ pkceRequired: false, redirectUris: [`${client.redirectUri}?foo=bar`] });
    expectErrorPage(await authorize({ redirect_uri: `${client.redirectUri}?bar=foo` }, { app }));
  },
  "oidcc-redirect-uri-query-added": async ({ client, authorize, expectErrorPage }) => {
    expectErrorPage(await authorize({ redirect_uri: `${client.redirectUri}?foo=bar` }));
  },
  "oidcc-redirect-uri-regfrag": async () => {
    const made = await operator()("POST", "/apps", { body: { ...newApp, redirectUris: [`${loginUrl}#foobar`] } });
    expect([made.status, (made.body as { code: string }).code]).toEqual([400, "uri_refused"]);
    return differs("The admin API refuses the address with 400 `uri_refused`.");
  },
  "oidcc-registration-logo-uri": withoutRegistration,
  "oidcc-registration-policy-uri": withoutRegistration,
  "oidcc-registration-tos-uri": withoutRegistration,
  "oidcc-registration-jwks-uri": withoutRegistration,
  "oidcc-registration-sector-uri": withoutRegistration,
  "oidcc-registration-sector-bad": withoutRegistration,
  "oidcc-refresh-token-rp-key-rotation": async (suite) => {
    const { world, complete } = suite;
    const published = await startReceiver();
    const jwksUri = await checkCalledUri(`${published.url}/jwks`, { allowPrivateAddresses: true });
    const app = await world.makeApp({ pkceRequired: false, tokenEndpointAuthMethod: "private_key_jwt", jwksUri });
    const [before, after] = [await makeKey("before"), await makeKey("after")];
    const publish = ({ jwk }: Key) => published.script(answer(200, {}, JSON.stringify({ keys: [jwk] })));
    publish(before);
    const first = { app, headers: {}, fields: await authenticate(suite, app, before) };
    const { tokens } = await complete({ scope: "openid offline_access", prompt: "consent" }, first);
    publish(after);
    world.service.clock.forwardSeconds(11);
    const refresh = { grant_type: "refresh_token", refresh_token: tokens.refresh_token! };
    const fields = { ...refresh, ...(await authenticate(suite, app, after)) };
    expect((await world.token(fields, { app, headers: {} })).status).toBe(200);
  },
  "oidcc-request-uri-unsigned": withoutRequestUri,
  "oidcc-request-uri-signed-rs256": withoutRequestUri,
  "oidcc-ensure-client-assertion-with-iss-aud-succeeds": async (suite) => {
    const key = await makeKey("key");
    const keys = { tokenEndpointAuthMethod: "private_key_jwt" as const, publicKeys: [key.jwk] };
    const app = await suite.world.makeApp({ pkceRequired: false, ...keys });
    await suite.complete({}, { app, headers: {}, fields: await authenticate(suite, app, key) });
  },
  // Last, because a forced rotation lets a key sign that apps may not have read yet.
  "oidcc-server-rotate-keys": async ({ world, keys, complete }) => {
    const kids = async () => (await keys()).keys.filter(({ alg }) => alg === "RS256").map(({ kid }) => kid);
    const before = await kids();
    expect((await operator()("POST", "/signing-keys/rotation?force=true")).status).toBe(200);
    await world.service.runJob("sign-on.watchKeys");
    const after = await kids();
    const signs = decodeProtectedHeader((await complete()).tokens.id_token!).kid;
    expect(after.filter((kid) => !before.includes(kid))).toHaveLength(1);
    expect([after.includes(before[0]), after.includes(signs)]).toEqual([true, true]);
  },
});
