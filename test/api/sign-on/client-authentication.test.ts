import { SignJWT, exportJWK, generateKeyPair, type CryptoKey } from "jose";
import * as client from "openid-client";
import { expect, test } from "vitest";
import { rotateClientSecret, updateApp, type AppUpdate, type CalledUri } from "../../../src/access/index.ts";
import { readKeySet } from "../../../src/platform/crypto/public-key.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff } from "../../support/admin.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import {
  basic,
  exchange,
  getAppToken,
  getUserTokens,
  giveLogin,
  postToken,
  signOn,
  type TestApp,
} from "../../support/token.ts";
import { makeCheckAccessToken } from "../../../src/sign-on/protocol/storage/check-access-token.ts";
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
    const refused = await getToken(wrong(known));
    expect(refused).toEqual(await getToken(wrong(unknown)));
    expect(refused.error).toBe("invalid_client");
  }
});

test("with nothing or a token the ways to authenticate are named", async () => {
  for (const way of [{}, { headers: { authorization: "Bearer x" } }])
    for (const [path, own] of endpoints) {
      const { error_description } = (await post(path, own, way)).body;
      expect(error_description, path).toContain("client_secret_basic, client_secret_post, private_key_jwt or none");
    }
});

test("a key for each algorithm is taken, for the issuer and for the token endpoint", async () => {
  for (const alg of ["RS256", "PS256", "ES384", "EdDSA"]) {
    const key = await makeKey(alg);
    const app = await world.app({ tokenEndpointAuthMethod: "private_key_jwt", publicKeys: [key.jwk] });
    for (const claims of [{}, { aud: `${world.service.url}/oauth2/token` }])
      expect(await getToken(asserted(await sign(app, key, claims))), alg).toHaveProperty("access_token");
  }
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
  const tokenEndpointAuthMethod = "private_key_jwt";
  const even = Buffer.from(rsa.n!, "base64url").map((byte, at) => (at === 255 ? byte & 0xfe : byte));
  const ec = { kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43) };
  const weakPoints = ["AA", "AQ"].map((x) => ({ kty: "OKP", crv: "Ed25519", x: x.padEnd(43, "A") }));
  const keys = [
    ...[await exportJWK(privateKey), { kty: "oct", k: "x" }, { ...rsa, n: rsa.n!.slice(100) }, { kty: "EC" }, ec],
    ...["AQ", "Ag", "Aw", "AQAC", Buffer.alloc(33, 1).toString("base64url")].map((e) => ({ ...rsa, e })),
    { ...rsa, n: Buffer.from(even).toString("base64url") },
    { ...rsa, use: "enc" },
    { ...rsa, key_ops: ["encrypt"] },
    { ...rsa, alg: "ES256" },
    { ...rsa, alg: "HS256" },
    ...weakPoints,
  ];
  // In the set that an app publishes, as where they are registered.
  expect(readKeySet([...keys, rsa])).toHaveLength(1);
  expect(readKeySet([{ ...rsa, kid: "1" }, { ...jwk, kid: "1" }, jwk])).toHaveLength(1);
  const refused: [wishes: object, code: string][] = [
    ...keys.map((key): [object, string] => [{ publicKeys: [key] }, "public_key_refused"]),
    [
      {
        publicKeys: [
          { ...rsa, kid: "1" },
          { ...jwk, kid: "1" },
        ],
      },
      "public_key_refused",
    ],
    [{ tokenEndpointAuthMethod }, "client_authentication"],
    [{ tokenEndpointAuthMethod, publicKeys: [jwk], jwksUri }, "client_authentication"],
    [{ tokenEndpointAuthMethod: "none" }, "client_authentication"],
    [{ type: "PUBLIC", tokenEndpointAuthMethod: "client_secret_post" }, "client_authentication"],
  ];
  for (const [wishes, code] of refused) await expect(world.make.app(wishes)).rejects.toMatchObject({ code });
});

const urn = (name: string) => `urn:schultor:idm:v1:${name}`;

test("an app gets exactly the scopes that it asked for", async () => {
  const app = await world.make.app({ scopes: ["schools:read", "users:read"] });
  const scope = `${urn("schools:read")} ${urn("users:read")}`;
  const { status, body, headers } = await postToken(world.service, app, { grant_type: "client_credentials", scope });
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    token_type: "bearer",
    expires_in: 3600,
    scope,
  });
  expect(headers.get("cache-control")).toContain("no-store");
});

test("while a secret is replaced, both are good wherever an app authenticates; when the overlap is over, only the new one is", async () => {
  const { service } = world;
  const old = await world.make.app();
  const rotated = await withPrismaTransaction(service.db, (tx) =>
    rotateClientSecret(tx, { clientId: old.clientId, keepOldSeconds: 3600 }, { at: service.clock() }),
  );
  const renewed = { ...old, clientSecret: rotated.clientSecret };
  const tryAll = async (app: typeof old) => {
    const token = { token: "x".repeat(43) };
    const answers = [
      await post("token", forItself, inHeader(app)),
      await post("introspect", token, inHeader(app)),
      await post("revoke", token, inHeader(app)),
    ];
    return answers.map(({ status }) => status);
  };
  expect([await tryAll(old), await tryAll(renewed)]).toEqual([Array(3).fill(200), Array(3).fill(200)]);
  expect(await tryAll({ ...old, clientSecret: "neither-of-the-two" })).toEqual([400, 401, 401]);
  service.clock.forwardSeconds(3600);
  expect([await tryAll(old), await tryAll(renewed)]).toEqual([[400, 401, 401], Array(3).fill(200)]);
});

const formText = "grant_type=client_credentials";
const form = { "content-type": "application/x-www-form-urlencoded" };
type Odd = { headers?: Record<string, string>; body?: string; method?: string; isAnonymous?: boolean };
const odd: Record<string, Odd> = {
  "no body": { headers: form },
  "no content type": {},
  JSON: { headers: { "content-type": "application/json" }, body: "{}" },
  multipart: { headers: { "content-type": "multipart/form-data; boundary=x" }, body: "--x--" },
  "a repeated scope": { body: `${formText}&scope=a&scope=b` },
  "broken percent-encoding": { body: "grant_type=%&scope=%E0%A4%A&%=%" },
  "NUL bytes": { body: "grant_type=authorization_code&code=%00&redirect_uri=%00" },
  "a huge body": { body: `${formText}&x=${"a".repeat(2_000_000)}` },
  "prototype names": { body: "grant_type=__proto__&__proto__=x&constructor=x" },
  "no client": { body: formText, isAnonymous: true },
  "an unknown client": { body: `${formText}&client_id=nobody`, isAnonymous: true },
  "a client id with NUL": { body: `${formText}&client_id=%00`, isAnonymous: true },
  "broken Basic": { headers: { ...form, authorization: "Basic %%%" }, body: formText },
  "Basic with broken encoding": {
    headers: { ...form, authorization: `Basic ${Buffer.from("a%:b%").toString("base64")}` },
    body: formText,
  },
  Bearer: { headers: { ...form, authorization: "Bearer x" }, body: formText },
  "Accept: text/html": { headers: { ...form, accept: "text/html" }, body: "grant_type=password" },
  PUT: { method: "PUT", body: "a=b" },
};

test("odd input is 400 with OAuth's JSON, and no challenge", async () => {
  const app = await world.make.app();
  for (const [what, given] of Object.entries(odd)) {
    const { headers = given.body === undefined ? {} : form, body, method = "POST", isAnonymous = false } = given;
    const response = await fetch(`${world.service.url}/oauth2/token`, {
      method,
      headers: { ...(isAnonymous ? {} : basic(app)), ...headers },
      ...(body !== undefined && { body: Buffer.from(body) }),
    });
    const type = response.headers.get("content-type");
    expect([what, response.status, type]).toEqual([what, 400, expect.stringContaining("application/json")]);
    expect(response.headers.get("www-authenticate"), what).toBeNull();
    const { error, ...others } = (await response.json()) as Answer;
    expect(["error_description", "error_uri"], what).toEqual(expect.arrayContaining(Object.keys(others)));
    expect(error, what).toMatch(
      /^(invalid_request|invalid_client|invalid_grant|unsupported_grant_type|invalid_target)$/,
    );
  }
});

test("a public app that sends a secret gets nothing, and what it has stays unused", async () => {
  const { service, login } = world;
  for (const way of [inBody, inHeader]) {
    const app = await world.app({ type: "PUBLIC" });
    const sent = way({ ...app, clientSecret: "a-secret-that-nobody-gave-the-app" });
    const refused = async (path: string, own: Record<string, string>, status: number) => {
      const body = new URLSearchParams({ ...sent.fields, ...own });
      const init = { method: "POST", headers: sent.headers ?? {}, body };
      const response = await fetch(`${service.url}/oauth2/${path}`, init);
      const challenge = status === 401 ? expect.stringMatching(/^Basic realm="/) : null;
      const { error } = (await response.json()) as Answer;
      expect([path, response.status, error, response.headers.get("www-authenticate")]).toEqual([
        path,
        status,
        "invalid_client",
        challenge,
      ]);
    };
    const signedOn = await signOn(service, app, login, { scopes: ["openid", "offline_access"] });
    const code = signedOn.back.searchParams.get("code")!;
    const fitting = { redirect_uri: app.redirectUri, code_verifier: signedOn.asked.verifier };
    await refused("token", { grant_type: "authorization_code", code, ...fitting }, 400);
    expect(await service.db.prisma.signIn.count({ where: { clientId: app.clientId } })).toBe(0);
    const { body } = await exchange(service, app, signedOn);
    for (const path of ["introspect", "revoke"]) await refused(path, { token: body.access_token }, 401);
    const introspected = await post("introspect", { token: body.access_token }, alone(app));
    expect(introspected.body).toMatchObject({ active: true });
    const grant = { grant_type: "refresh_token", refresh_token: body.refresh_token! };
    await refused("token", grant, 400);
    // A secret without a value counts as omitted.
    expect((await post("token", grant, inBody({ ...app, clientSecret: "" }))).status).toBe(200);
  }
});

const check = (token: string) => makeCheckAccessToken({ db: world.service.db, clock: world.service.clock })(token);

test("a token in the app context tells the app and its scopes", async () => {
  const app = await world.make.app();
  const token = await getAppToken(world.service, app, ["schools:read", "users:read"]);
  expect(await check(token)).toEqual({
    kind: "valid",
    token: {
      clientId: app.clientId,
      personId: null,
      scopes: new Set(["schools:read", "users:read"]),
      hasSecondFactor: false,
      namesRead: "all",
      ids: "shared",
    },
  });
});

test("a token in the user context tells the person too", async () => {
  const app = await world.app();
  const { access_token } = await getUserTokens(world.service, app, world.login, { scopes: ["openid", "people:read"] });
  expect(await check(access_token)).toMatchObject({
    kind: "valid",
    token: { clientId: app.clientId, personId: world.pupil },
  });
});

test("expired is told from unknown", async () => {
  const token = await getAppToken(world.service, await world.make.app(), []);
  world.service.clock.forwardSeconds(3600);
  expect(await check(token)).toMatchObject({ kind: "expired", clientId: expect.any(String) as string });
  for (const other of ["", "x", "x".repeat(43), "\0".repeat(43), `${token}x`])
    expect(await check(other)).toEqual({ kind: "unknown" });
});

test("a refresh token, a code or a session is no access token", async () => {
  const app = await world.app();
  const { refresh_token, browser } = await getUserTokens(world.service, app, world.login, {
    scopes: ["openid", "offline_access"],
  });
  const session = browser.cookies().find(({ name }) => name === "_session")!.value;
  for (const other of [refresh_token!, session]) expect(await check(other)).toEqual({ kind: "unknown" });
});

test("a token dies with its app and its person, and loses the scope that the app lost", async () => {
  const { make, service, school } = world;
  const { pool } = service.db;
  const app = await make.app();
  const token = await getAppToken(service, app, ["schools:read", "users:read"]);
  await pool.query("UPDATE app SET scopes = '{schools:read}' WHERE client_id = $1", [app.clientId]);
  expect(await check(token)).toMatchObject({ token: { scopes: new Set(["schools:read"]) } });
  await pool.query("DELETE FROM app WHERE client_id = $1", [app.clientId]);
  expect(await check(token)).toEqual({ kind: "unknown" });

  const person = await make.person({ school });
  const { access_token } = await getUserTokens(service, await world.app(), await giveLogin(service.db, person));
  await pool.query("DELETE FROM person WHERE id = $1", [person]);
  expect(await check(access_token)).toMatchObject({ kind: "revoked" });
});
