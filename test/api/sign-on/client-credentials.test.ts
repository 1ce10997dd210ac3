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

test("a changed registration counts at once", async () => {
  const app = await world.make.app({ scopes: ["schools:read"] });
  const ask = () => postToken(world.service, app, { grant_type: "client_credentials", scope: urn("schools:read") });
  expect((await ask()).status).toBe(200);
  await world.service.db.pool.query("UPDATE app SET scopes = '{}' WHERE client_id = $1", [app.clientId]);
  expect((await ask()).body.error).toBe("invalid_scope");
});

const form = { "content-type": "application/x-www-form-urlencoded" };
const own = "grant_type=client_credentials";
type Odd = { headers?: Record<string, string>; body?: string; method?: string; isAnonymous?: boolean };
const odd: Record<string, Odd> = {
  "no body": { headers: form },
  "no content type": {},
  JSON: { headers: { "content-type": "application/json" }, body: "{}" },
  multipart: { headers: { "content-type": "multipart/form-data; boundary=x" }, body: "--x--" },
  "a repeated scope": { body: `${own}&scope=a&scope=b` },
  "broken percent-encoding": { body: "grant_type=%&scope=%E0%A4%A&%=%" },
  "NUL bytes": { body: "grant_type=authorization_code&code=%00&redirect_uri=%00" },
  "a huge body": { body: `${own}&x=${"a".repeat(2_000_000)}` },
  "prototype names": { body: "grant_type=__proto__&__proto__=x&constructor=x" },
  "a resource": { body: `${own}&resource=https%3A%2F%2Fx.example` },
  "no client": { body: own, isAnonymous: true },
  "an unknown client": { body: `${own}&client_id=nobody`, isAnonymous: true },
  "a client id with NUL": { body: `${own}&client_id=%00`, isAnonymous: true },
  "broken Basic": { headers: { ...form, authorization: "Basic %%%" }, body: own },
  "Basic with broken encoding": {
    headers: { ...form, authorization: `Basic ${Buffer.from("a%:b%").toString("base64")}` },
    body: own,
  },
  Bearer: { headers: { ...form, authorization: "Bearer x" }, body: own },
  "Accept: text/html": { headers: { ...form, accept: "text/html" }, body: "grant_type=password" },
  PUT: { method: "PUT", body: "a=b" },
};

test.each(Object.entries(odd))("odd input is 400 with OAuth's JSON: %s", async (_what, given) => {
  const { headers = given.body === undefined ? {} : form, body, method = "POST", isAnonymous = false } = given;
  const authorization = isAnonymous ? {} : basic(await world.make.app());
  const response = await fetch(`${world.service.url}/oauth2/token`, {
    method,
    headers: { ...authorization, ...headers },
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
