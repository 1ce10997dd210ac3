import { exportJWK, generateKeyPair, type CryptoKey, SignJWT } from "jose";
import * as client from "openid-client";
import { expect, test } from "vitest";
import { type AppUpdate, type CalledUri, rotateClientSecret, updateApp } from "../../../src/access/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff } from "../../support/admin.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { basic, type TestApp } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", TRUSTED_PROXIES: "127.0.0.1,::1" });
type Schemas = components["schemas"];
const jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

type Key = { alg: string; kid: string; privateKey: CryptoKey; jwk: object };
async function makeKey(alg = "ES256", kid = `key-${alg}`): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

let count = 0;
type Claims = Record<string, unknown>;
const claimsOf = ({ clientId }: TestApp, claims: Claims): Claims => {
  const now = Math.floor(Date.now() / 1000);
  const own = { iss: clientId, sub: clientId, aud: world.service.url, jti: `jti-${(count += 1)}` };
  return { ...own, iat: now, exp: now + 60, ...claims };
};
const sign = (app: TestApp, { alg, kid, privateKey }: Key, claims: Claims = {}): Promise<string> =>
  new SignJWT(claimsOf(app, claims)).setProtectedHeader({ alg, kid }).sign(privateKey);

type Way = { headers?: Record<string, string>; fields?: Record<string, string> };
const inBody = ({ clientId, clientSecret }: TestApp): Way => ({
  fields: { client_id: clientId, client_secret: clientSecret! },
});
const inHeader = (app: TestApp): Way => ({ headers: basic(app) });
const asserted = (jwt: string): Way => ({ fields: { client_assertion_type: jwtBearer, client_assertion: jwt } });
const alone = ({ clientId }: TestApp): Way => ({ fields: { client_id: clientId } });

type Answer = { error?: string; error_description?: string; access_token?: string };
async function post(path: string, own: Record<string, string>, { headers = {}, fields = {} }: Way) {
  const body = new URLSearchParams({ ...own, ...fields });
  const response = await fetch(`${world.service.url}/oauth2/${path}`, { method: "POST", headers, body });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Answer };
}
const forItself = { grant_type: "client_credentials" };
const endpoints = [
  ["token", forItself],
  ["introspect", { token: "x" }],
  ["revoke", { token: "x" }],
] as const;
const getToken = async (way: Way) => (await post("token", forItself, way)).body;

async function change(app: TestApp, update: Omit<AppUpdate, "clientId">): Promise<void> {
  const origin = { at: world.service.clock(), allowLoopbackHttp: true };
  await withPrismaTransaction(world.service.db, (tx) => updateApp(tx, { clientId: app.clientId, ...update }, origin));
}

test("an app uses the way that it is registered for at each endpoint, and no other", async () => {
  const key = await makeKey();
  const [post_, keys] = [
    await world.app({ tokenEndpointAuthMethod: "client_secret_post" }),
    await world.app({ tokenEndpointAuthMethod: "private_key_jwt", publicKeys: [key.jwk] }),
  ];
  const [header, open] = [await world.app(), await world.app({ type: "PUBLIC" })];
  expect([keys.clientSecret, open.clientSecret]).toEqual([null, null]);
  const ways = {
    client_secret_basic: inHeader,
    client_secret_post: inBody,
    private_key_jwt: async (app: TestApp) => asserted(await sign(app, key)),
    none: alone,
  };
  const registered = { client_secret_basic: header, client_secret_post: post_, private_key_jwt: keys, none: open };
  for (const [own, app] of Object.entries(registered))
    for (const [way, make] of Object.entries(ways))
      for (const [path, fields] of endpoints) {
        const { status, body } = await post(
          path,
          fields,
          await make({ ...app, clientSecret: app.clientSecret ?? "x" }),
        );
        const where = `${own} by ${way} at ${path}`;
        if (own !== way) {
          expect([where, status, body.error]).toEqual([where, path === "token" ? 400 : 401, "invalid_client"]);
          expect(body.error_description).toContain(`not registered for ${way}`);
        } else if (own === "none" && path === "token") expect(body.error, where).toBe("unauthorized_client");
        else expect([where, status, body.error]).toEqual([where, 200, undefined]);
      }
});

test("strangers learn neither whether a client exists nor how it is registered", async () => {
  const known = await world.app();
  const unknown = { ...known, clientId: "nobody" as typeof known.clientId };
  for (const way of [inBody, inHeader, alone]) {
    const wrong = (app: TestApp) => way({ ...app, clientSecret: "wrong" });
    expect(await getToken(wrong(known))).toEqual(await getToken(wrong(unknown)));
  }
});

test.each([
  ["nothing", {}],
  ["Bearer", { headers: { authorization: "Bearer x" } }],
])("with %s the ways to authenticate are named", async (_what, way) => {
  for (const [path, own] of endpoints) {
    const { body } = await post(path, own, way);
    expect(body.error_description, path).toContain("client_secret_basic, client_secret_post, private_key_jwt or none");
  }
});

test.each(["RS256", "PS256", "ES384", "EdDSA"])("a key for %s is taken", async (alg) => {
  const key = await makeKey(alg);
  const app = await world.app({ tokenEndpointAuthMethod: "private_key_jwt", publicKeys: [key.jwk] });
  expect(await getToken(asserted(await sign(app, key)))).toHaveProperty("access_token");
  const forTokens = { aud: `${world.service.url}/oauth2/token` };
  expect(await getToken(asserted(await sign(app, key, forTokens)))).toHaveProperty("access_token");
});

test("an assertion is taken once, whichever of many requests at once is first", async () => {
  const key = await makeKey();
  const app = await world.app({ tokenEndpointAuthMethod: "private_key_jwt", publicKeys: [key.jwk] });
  const way = asserted(await sign(app, key));
  const all = await Promise.all(Array.from({ length: 10 }, () => getToken(way)));
  expect(all.filter(({ access_token }) => access_token !== undefined)).toHaveLength(1);
  expect((await post("introspect", { token: "x" }, way)).status).toBe(401);
});

test("wrong assertions are refused", async () => {
  const [key, other] = [await makeKey(), await makeKey("ES256")];
  const app = await world.app({ tokenEndpointAuthMethod: "private_key_jwt", publicKeys: [key.jwk] });
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const unsigned = `${part({ alg: "none" })}.${part(claimsOf(app, {}))}.`;
  const symmetric = await new SignJWT(claimsOf(app, {}))
    .setProtectedHeader({ alg: "HS256", kid: key.kid })
    .sign(Buffer.from(JSON.stringify(key.jwk)));
  const wrong = {
    "other key": await sign(app, other),
    "wrong audience": await sign(app, key, { aud: "https://other.example" }),
    expired: await sign(app, key, { exp: now - 60 }),
    "far ahead": await sign(app, key, { exp: now + 7200 }),
    "without an end": await sign(app, key, { exp: undefined }),
    "without an id": await sign(app, key, { jti: undefined }),
    "other issuer": await sign(app, key, { iss: "other" }),
    unsigned,
    symmetric,
  };
  for (const [what, jwt] of Object.entries(wrong))
    expect([what, (await getToken(asserted(jwt))).error]).toEqual([what, "invalid_client"]);
});

test("an app replaces its keys at its jwks_uri by itself; a key that is gone ends within five minutes", async () => {
  const [first, second] = [await makeKey("ES256", "first"), await makeKey("ES256", "second")];
  const receiver = await startReceiver(answer(200, {}, JSON.stringify({ keys: [first.jwk, { kty: "oct", k: "x" }] })));
  const jwksUri = `${receiver.url}/jwks.json` as CalledUri;
  const app = await world.app({ tokenEndpointAuthMethod: "private_key_jwt", jwksUri });
  const ask = async (key: Key) => (await getToken(asserted(await sign(app, key)))).error ?? "token";
  expect([await ask(first), await ask(first)]).toEqual(["token", "token"]);
  expect(receiver.received).toHaveLength(1);
  receiver.script(answer(200, {}, JSON.stringify({ keys: [second.jwk] })));
  world.service.clock.forwardSeconds(11);
  expect([await ask(second), await ask(first)]).toEqual(["token", "invalid_client"]);
  receiver.script(answer(500));
  world.service.clock.forwardSeconds(301);
  expect(await ask(second)).toBe("token");
  world.service.clock.forwardSeconds(3600);
  expect(await ask(second)).toBe("invalid_client");
  receiver.script(answer(200, {}, `{"keys": [${JSON.stringify(second.jwk)}], "x": "${"x".repeat(70_000)}"}`));
  world.service.clock.forwardSeconds(11);
  expect(await ask(second)).toBe("invalid_client");
});

test("assertions that a stranger makes up do not keep an app's new key from being read, and call it seldom", async () => {
  const { service } = world;
  const [first, second] = [await makeKey("ES256", "first"), await makeKey("ES256", "second")];
  const receiver = await startReceiver(answer(200, {}, JSON.stringify({ keys: [first.jwk] })));
  const jwksUri = `${receiver.url}/jwks.json` as CalledUri;
  const app = await world.app({ tokenEndpointAuthMethod: "private_key_jwt", jwksUri });
  expect((await getToken(asserted(await sign(app, first)))).error).toBeUndefined();
  service.clock.forwardSeconds(11);
  const forge = async (address: string) => {
    const way = asserted(await sign(app, await makeKey("ES256", "made-up")));
    return (await getToken({ ...way, headers: { "x-forwarded-for": address } })).error;
  };
  for (let n = 1; n < 10; n++)
    for (const again of [1, 2]) expect([again, await forge(`203.0.113.${n}`)]).toEqual([again, "invalid_client"]);
  expect(receiver.received).toHaveLength(6);
  service.clock.forwardSeconds(11);
  expect(await forge("203.0.113.1")).toBe("invalid_client");
  receiver.script(answer(200, {}, JSON.stringify({ keys: [second.jwk] })));
  expect((await getToken(asserted(await sign(app, second)))).error).toBeUndefined();
  expect(receiver.received).toHaveLength(8);
});

test("after a change to a key neither secret is taken, and after the change back only a new one", async () => {
  const key = await makeKey();
  const app = await world.app();
  const origin = { at: world.service.clock() };
  const rotate = () =>
    withPrismaTransaction(world.service.db, (tx) =>
      rotateClientSecret(tx, { clientId: app.clientId, keepOldSeconds: 3600 }, origin),
    );
  const newer = { ...app, ...(await rotate()) };
  await change(app, { tokenEndpointAuthMethod: "private_key_jwt", publicKeys: [key.jwk] });
  expect(await getToken(asserted(await sign(app, key)))).toHaveProperty("access_token");
  await expect(rotate()).rejects.toMatchObject({ code: "app_not_found" });
  for (const old of [app, newer])
    for (const way of [inHeader, inBody]) expect((await getToken(way(old))).error).toBe("invalid_client");
  await change(app, { tokenEndpointAuthMethod: "client_secret_post" });
  for (const old of [app, newer]) expect((await getToken(inBody(old))).error).toBe("invalid_client");
  expect(await getToken(inBody({ ...app, ...(await rotate()) }))).toHaveProperty("access_token");
});

test("the list of sign-ons says how an app authenticated and what was wrong", async () => {
  const key = await makeKey();
  const app = await world.app({ tokenEndpointAuthMethod: "private_key_jwt", publicKeys: [key.jwk] });
  const used = asserted(await sign(app, key));
  await getToken(used);
  await getToken(used);
  await getToken(inBody({ ...app, clientSecret: "x" }));
  await getToken(asserted(await sign(app, await makeKey())));
  await getToken(asserted(await sign(app, key, { aud: "x" })));
  await change(app, { publicKeys: [], jwksUri: "http://127.0.0.1:1/jwks.json" as CalledUri });
  await getToken(asserted(await sign(app, key)));
  const { call } = await makeStaff(world.service, "PARTNER", { clientIds: [app.clientId] });
  await world.service.runJob("traffic.flushLogs");
  const { body } = await call("GET", `/apps/${app.clientId}/sign-on-attempts`);
  const steps = (body as Schemas["SignOnAttempt"][]).toReversed().flatMap(({ steps: [step] }) => step ?? []);
  expect(steps.map(({ reason, sent }) => [reason, sent?.[0]?.value])).toEqual([
    ["client_assertion_used", "private_key_jwt"],
    ["client_authentication_differs", "client_secret_post"],
    ["client_assertion_key", "private_key_jwt"],
    ["client_assertion_refused", "private_key_jwt"],
    ["client_keys_unreadable", "private_key_jwt"],
  ]);
});

test.each([
  ["client_secret_post", (app: TestApp) => client.ClientSecretPost(app.clientSecret!)],
  ["private_key_jwt", (_app: TestApp, { privateKey, kid }: Key) => client.PrivateKeyJwt({ key: privateKey, kid })],
] as const)("openid-client gets, introspects and revokes a token with %s", async (method, authenticate) => {
  const key = await makeKey();
  const app = await world.app({ tokenEndpointAuthMethod: method, publicKeys: [key.jwk] });
  const config = await client.discovery(new URL(world.service.url), app.clientId, undefined, authenticate(app, key), {
    execute: [client.allowInsecureRequests],
  });
  const own = await client.clientCredentialsGrant(config);
  expect((await client.tokenIntrospection(config, own.access_token)).active).toBe(true);
  await client.tokenRevocation(config, own.access_token);
  expect((await client.tokenIntrospection(config, own.access_token)).active).toBe(false);
});

test("keys that cannot be used, and registrations that contradict themselves, are refused", async () => {
  const { jwk, privateKey } = await makeKey();
  const weak = await generateKeyPair("RS256", { modulusLength: 2048, extractable: true });
  const rsa = await exportJWK(weak.publicKey);
  const jwksUri = "https://app.example/jwks.json" as CalledUri;
  const refused = (wishes: object) => expect(world.make.app(wishes)).rejects;
  for (const key of [
    await exportJWK(privateKey),
    { kty: "oct", k: "x" },
    { ...rsa, n: rsa.n!.slice(100) },
    { kty: "EC" },
  ])
    await refused({ publicKeys: [key] }).toMatchObject({ code: "public_key_refused" });
  for (const wishes of [
    { tokenEndpointAuthMethod: "private_key_jwt" },
    { tokenEndpointAuthMethod: "private_key_jwt", publicKeys: [jwk], jwksUri },
    { tokenEndpointAuthMethod: "none" },
    { type: "PUBLIC", tokenEndpointAuthMethod: "client_secret_post" },
  ])
    await refused(wishes).toMatchObject({ code: "client_authentication" });
});
