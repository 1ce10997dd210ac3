import { expect, test } from "vitest";
import { rotateClientSecret } from "../../../src/access/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { basic, postToken } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
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

test("without a scope the token has none and the answer says so", async () => {
  const app = await world.make.app();
  const { status, body } = await postToken(world.service, app, { grant_type: "client_credentials" });
  expect([status, body.scope]).toEqual([200, ""]);
});

test.each([
  ["one that the app was not granted", `${urn("schools:read")} ${urn("people:read")}`],
  ["one that nobody has", "schools:read"],
  ["one of another platform", "urn:other:idm:v1:schools:read"],
])("a scope too many fails the whole request: %s", async (_what, scope) => {
  const app = await world.make.app({ scopes: ["schools:read"] });
  const { status, body } = await postToken(world.service, app, { grant_type: "client_credentials", scope });
  expect({ status, body }).toEqual({
    status: 400,
    body: { error: "invalid_scope", error_description: expect.any(String), error_uri: expect.any(String) },
  });
});

test("a wrong secret is 400 invalid_client without WWW-Authenticate", async () => {
  const app = await world.make.app();
  const { status, body, headers } = await postToken(
    world.service,
    { ...app, clientSecret: "wrong" },
    { grant_type: "client_credentials" },
  );
  expect([status, body.error]).toEqual([400, "invalid_client"]);
  expect(headers.get("www-authenticate")).toBeNull();
  expect(headers.get("content-type")).toContain("application/json");
});

test("while a secret is replaced, both are good wherever an app authenticates; when the overlap is over, only the new one is", async () => {
  const { service } = world;
  const old = await world.make.app();
  const rotated = await withPrismaTransaction(service.db, (tx) =>
    rotateClientSecret(tx, { clientId: old.clientId, keepOldSeconds: 3600 }, { at: service.clock() }),
  );
  const renewed = { ...old, clientSecret: rotated.clientSecret };
  const tryAll = async (app: typeof old) => {
    const post = async (path: string, fields: Record<string, string>) =>
      (
        await fetch(`${service.url}/oauth2/${path}`, {
          method: "POST",
          headers: basic(app),
          body: new URLSearchParams(fields),
        })
      ).status;
    const token = { token: "x".repeat(43) };
    return [
      await post("token", { grant_type: "client_credentials" }),
      await post("introspect", token),
      await post("revoke", token),
    ];
  };
  expect([await tryAll(old), await tryAll(renewed)]).toEqual([Array(3).fill(200), Array(3).fill(200)]);
  expect(await tryAll({ ...old, clientSecret: "neither-of-the-two" })).toEqual([400, 401, 401]);
  service.clock.forwardSeconds(3600);
  expect([await tryAll(old), await tryAll(renewed)]).toEqual([[400, 401, 401], Array(3).fill(200)]);
});

test("a public app gets no client credentials", async () => {
  const app = await world.make.app({ type: "PUBLIC" });
  expect((await postToken(world.service, app, { grant_type: "client_credentials" })).status).toBe(400);
});

test("a changed registration counts at once", async () => {
  const app = await world.make.app({ scopes: ["schools:read"] });
  const ask = () => postToken(world.service, app, { grant_type: "client_credentials", scope: urn("schools:read") });
  expect((await ask()).status).toBe(200);
  await world.service.db.pool.query("UPDATE app SET scopes = '{}' WHERE client_id = $1", [app.clientId]);
  expect((await ask()).body.error).toBe("invalid_scope");
});

type Odd = { headers?: Record<string, string>; body?: string; method?: string };
const form = { "content-type": "application/x-www-form-urlencoded" };
const odd: [string, (credentials: Record<string, string>) => Odd][] = [
  ["no body", (auth) => ({ headers: { ...auth, ...form } })],
  ["no content type", (auth) => ({ headers: auth })],
  ["JSON", (auth) => ({ headers: { ...auth, "content-type": "application/json" }, body: "{}" })],
  ["multipart", (auth) => ({ headers: { ...auth, "content-type": "multipart/form-data; boundary=x" }, body: "--x--" })],
  [
    "a repeated parameter",
    (auth) => ({ headers: { ...auth, ...form }, body: "grant_type=client_credentials&grant_type=client_credentials" }),
  ],
  [
    "a repeated scope",
    (auth) => ({ headers: { ...auth, ...form }, body: "grant_type=client_credentials&scope=a&scope=b" }),
  ],
  ["broken percent-encoding", (auth) => ({ headers: { ...auth, ...form }, body: "grant_type=%&scope=%E0%A4%A&%=%" })],
  [
    "NUL bytes",
    (auth) => ({ headers: { ...auth, ...form }, body: "grant_type=authorization_code&code=%00&redirect_uri=%00" }),
  ],
  [
    "a huge body",
    (auth) => ({ headers: { ...auth, ...form }, body: `grant_type=client_credentials&x=${"a".repeat(2_000_000)}` }),
  ],
  ["an unknown grant type", (auth) => ({ headers: { ...auth, ...form }, body: "grant_type=password" })],
  [
    "prototype names",
    (auth) => ({ headers: { ...auth, ...form }, body: "grant_type=__proto__&__proto__=x&constructor=x" }),
  ],
  [
    "a resource",
    (auth) => ({
      headers: { ...auth, ...form },
      body: "grant_type=client_credentials&resource=https%3A%2F%2Fx.example",
    }),
  ],
  ["no client", () => ({ headers: form, body: "grant_type=client_credentials" })],
  ["an unknown client", () => ({ headers: form, body: "grant_type=client_credentials&client_id=nobody" })],
  ["a client id with NUL", () => ({ headers: form, body: "grant_type=client_credentials&client_id=%00" })],
  ["broken Basic", () => ({ headers: { ...form, authorization: "Basic %%%" }, body: "grant_type=client_credentials" })],
  [
    "Basic with broken encoding",
    () => ({
      headers: { ...form, authorization: `Basic ${Buffer.from("a%:b%").toString("base64")}` },
      body: "grant_type=client_credentials",
    }),
  ],
  ["Bearer", () => ({ headers: { ...form, authorization: "Bearer x" }, body: "grant_type=client_credentials" })],
  [
    "Accept: text/html",
    (auth) => ({ headers: { ...auth, ...form, accept: "text/html" }, body: "grant_type=password" }),
  ],
  ["GET", (auth) => ({ headers: auth, method: "GET" })],
  ["PUT", (auth) => ({ headers: { ...auth, ...form }, method: "PUT", body: "a=b" })],
];

test.each(odd)("odd input is 400 with OAuth's JSON: %s", async (_what, make) => {
  const app = await world.make.app();
  const { headers = {}, body, method = "POST" } = make(basic(app));
  const response = await fetch(`${world.service.url}/oauth2/token`, {
    method,
    headers,
    ...(body !== undefined && { body: Buffer.from(body) }),
  });
  expect(response.status).toBe(400);
  expect(response.headers.get("content-type")).toContain("application/json");
  expect(response.headers.get("www-authenticate")).toBeNull();
  const answer = (await response.json()) as Record<string, unknown>;
  expect(Object.keys(answer).filter((key) => !["error", "error_description", "error_uri"].includes(key))).toEqual([]);
  expect(answer["error"]).toMatch(
    /^(invalid_request|invalid_client|invalid_grant|unsupported_grant_type|invalid_target)$/,
  );
});

test("Basic and body credentials together are refused", async () => {
  const app = await world.make.app();
  const { status, body } = await postToken(world.service, app, {
    grant_type: "client_credentials",
    client_secret: app.clientSecret!,
  });
  expect([status, body.error]).toEqual([400, "invalid_request"]);
});

test("credentials in the body alone are refused", async () => {
  const { clientId, clientSecret } = await world.make.app();
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret!,
  });
  const response = await fetch(`${world.service.url}/oauth2/token`, { method: "POST", body });
  expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ error: "invalid_client" })]);
});
