import { expect, test } from "vitest";
import { appAttributes } from "../../../src/access/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf, nextPage } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { getAppToken, postToken } from "../../support/token.ts";

type Schemas = components["schemas"];

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const make = makeMakers(service.db);
const school = await make.school();
const own = await make.app({ name: "Änderbar" });
const foreign = await make.app({ name: "Zebra" });
const operator = await makeStaff(service, "OPERATOR");
const partner = await makeStaff(service, "PARTNER", { clientIds: [own.clientId] });

const auditOf = (clientId: string, action: string) =>
  service.db.prisma.audit.findMany({ where: { clientId, action }, orderBy: { id: "asc" } });
const actor = { actorId: `app:${operator.app.clientId}`, actorRole: "OPERATOR" };

async function getsToken(clientId: string, clientSecret: string): Promise<boolean> {
  const app = { ...own, clientId: clientId as typeof own.clientId, clientSecret };
  return (await postToken(service, app, { grant_type: "client_credentials" })).status === 200;
}

async function secretsOf(clientId: string): Promise<string[]> {
  const text =
    "SELECT encode(secret_hash, 'hex') AS now, encode(old_secret_hash, 'hex') AS old FROM app WHERE client_id = $1";
  const { rows } = await service.db.pool.query<{ now: string; old: string | null }>(text, [clientId]);
  return rows.flatMap(({ now, old }) => [now, ...(old === null ? [] : [old])]);
}

test("an app is registered once, with a secret that is in no audit line", async () => {
  const body = { clientId: "lernapp", name: "Lernapp", scopes: ["schools:read", "admin:read"] };
  const headers = { "idempotency-key": "first" };
  const made = await operator.call("POST", "/apps", { body, headers });
  const again = await operator.call("POST", "/apps", { body, headers });
  expect([made.status, made.headers.get("location")]).toEqual([201, "/admin/v1/apps/lernapp"]);
  expect([again.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([201, made.body, "true"]);
  const { clientId, clientSecret } = made.body as Schemas["AppCredentials"];
  expect(await getsToken(clientId, clientSecret!)).toBe(true);
  const read = await operator.call("GET", "/apps/lernapp");
  expect(read.body).toEqual({
    clientId: "lernapp",
    tokenEndpointAuthMethod: "client_secret_basic",
    publicKeys: [],
    jwksUri: null,
    name: "Lernapp",
    type: "CONFIDENTIAL",
    pkceRequired: true,
    redirectUris: [],
    postLogoutRedirectUris: [],
    loginUrl: null,
    backchannelLogoutUri: null,
    scopes: body.scopes,
    defaultScopes: [],
    scopePlatform: null,
    attributes: appAttributes,
    idTokenAlgorithm: "RS256",
    schulconnexSpelling: "V1_4",
    subjectType: "APP",
    confirmsErasures: false,
    sector: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    oldSecretEndsAt: null,
    isBuiltIn: false,
    suspension: null,
    provider: null,
    description: { de: null, en: null },
    purpose: { de: null, en: null },
    privacyUrl: null,
    supportAddress: null,
    logoPath: null,
  });
  const lines = await auditOf("lernapp", "app_created");
  expect(lines).toMatchObject([{ ...actor, before: null, after: read.body }]);
  for (const secret of [clientSecret!, ...(await secretsOf("lernapp"))])
    expect(JSON.stringify(lines)).not.toContain(secret);
  const other = await operator.call("POST", "/apps", { body: { ...body, name: "Other" }, headers });
  expect(refusalOf(other)).toEqual([422, "idempotency_key_reused"]);
  expect(refusalOf(await operator.call("POST", "/apps", { body }))).toEqual([409, "client_id_taken"]);
  const open = await operator.call("POST", "/apps", { body: { name: "On a phone", type: "PUBLIC" } });
  expect(open.body).toMatchObject({ clientSecret: null });
  const refused = { name: "x", redirectUris: ["https://app.example/#x"] };
  expect(refusalOf(await operator.call("POST", "/apps", { body: refused }))).toEqual([400, "uri_refused"]);
});

test("only an operator registers apps with scopes and gives scopes, those of this API too", async () => {
  const body = { name: "x", scopes: ["openid"] };
  expect(refusalOf(await partner.call("POST", "/apps", { body }))).toEqual([403, "role_forbids"]);
  const path = `/apps/${own.clientId}`;
  for (const scopes of [["openid", "admin:write"], ["openid"], []]) {
    const sent = await partner.call("PATCH", path, { body: { scopes } });
    expect(refusalOf(sent)).toEqual([403, "role_forbids"]);
  }
  expect((await operator.call("PATCH", path, { body: { scopes: ["openid", "admin:read"] } })).status).toBe(204);
  expect((await operator.call("GET", path)).body).toMatchObject({ scopes: ["openid", "admin:read"] });
  expect((await operator.call("PATCH", path, { body: { scopes: ["openid"] } })).status).toBe(204);
});

test("an operator and a partner set a second platform name; the service's own and an invalid one are refused", async () => {
  const path = `/apps/${own.clientId}`;
  const platformOf = async () => ((await partner.call("GET", path)).body as Schemas["AdminApp"]).scopePlatform;
  for (const [{ call }, scopePlatform] of [
    [operator, "old-platform"],
    [partner, "older"],
  ] as const) {
    expect((await call("PATCH", path, { body: { scopePlatform } })).status).toBe(204);
    expect(await platformOf()).toBe(scopePlatform);
  }
  const refused: [string, string, string][] = [
    ["schultor", "scope_platform_refused", "schultor is the platform name of this service"],
    ["Old", "scope_platform_refused", "lower-case letters, digits and hyphens"],
    ["-old", "scope_platform_refused", "no hyphen at the start"],
    ["old:idm", "scope_platform_refused", "lower-case letters"],
    ["", "invalid_request", "scopePlatform"],
    ["x".repeat(33), "invalid_request", "scopePlatform"],
  ];
  for (const [scopePlatform, code, message] of refused)
    for (const given of [
      await partner.call("PATCH", path, { body: { scopePlatform } }),
      await operator.call("POST", "/apps", { body: { name: "Refused", scopePlatform } }),
    ]) {
      expect(refusalOf(given), scopePlatform).toEqual([400, code]);
      expect((given.body as { message: string }).message).toContain(message);
    }
  expect(await platformOf()).toBe("older");
  const other = await partner.call("PATCH", `/apps/${foreign.clientId}`, { body: { scopePlatform: "other" } });
  expect(refusalOf(other)).toEqual([404, "app_not_found"]);
  expect((await partner.call("PATCH", path, { body: { scopePlatform: null } })).status).toBe(204);
  expect(await platformOf()).toBeNull();
  const body = { name: "With a second name", clientId: "second-name", scopePlatform: "old" };
  expect((await operator.call("POST", "/apps", { body })).status).toBe(201);
  expect((await operator.call("GET", "/apps/second-name")).body).toMatchObject({ scopePlatform: "old" });
});

test("an operator sees all apps, a partner their own; another one is answered as one that does not exist", async () => {
  const names = async ({ call }: typeof operator, query = "") =>
    ((await call("GET", `/apps?limit=1000${query}`)).body as Schemas["AdminApp"][]).map(({ name }) => name);
  expect(await names(partner)).toEqual(["Änderbar"]);
  const all = await names(operator);
  expect(all.indexOf("Änderbar")).toBe(0);
  expect(all).toContain("Zebra");
  expect(await names(operator, "&search=ebr")).toEqual(["Zebra"]);
  // A registration has addresses and scopes of the programs of others; the catalogue has what a school needs.
  const both = await makeStaff(service, "PARTNER", { clientIds: [own.clientId] });
  const given = { role: "SCHOOL_ADMIN", holder: { clientId: both.app.clientId }, schoolIds: [school] };
  expect((await operator.call("POST", "/staff-roles", { body: given })).status).toBe(201);
  expect(await names(both)).toEqual(["Änderbar"]);
  expect(refusalOf(await both.call("GET", `/apps/${foreign.clientId}`))).toEqual([404, "app_not_found"]);
  const first = await operator.call("GET", "/apps?limit=1");
  expect((await operator.call("GET", nextPage(first)!)).body).toMatchObject([{ name: all[1] }]);
  expect(refusalOf(await operator.call("DELETE", "/apps/no-such-app"))).toEqual([404, "app_not_found"]);
});

test("an app is changed from the state that was read; the audit says what differs", async () => {
  const path = `/apps/${own.clientId}`;
  const { body: before, headers } = await partner.call("GET", path);
  const ifMatch = { "if-match": headers.get("etag")! };
  const body = { loginUrl: "https://app.example/login", backchannelLogoutUri: "http://127.0.0.1:4999/logout" };
  const changed = await partner.call("PATCH", path, { body, headers: ifMatch });
  const read = await partner.call("GET", path);
  expect([changed.status, changed.headers.get("etag")]).toEqual([204, read.headers.get("etag")]);
  expect(read.body).toEqual({ ...(before as object), ...body });
  const stale = await partner.call("PATCH", path, { body: { name: "Late" }, headers: ifMatch });
  expect([...refusalOf(stale), (stale.body as { current: unknown }).current]).toEqual([
    412,
    "precondition_failed",
    read.body,
  ]);
  expect((await operator.call("DELETE", path, { headers: ifMatch })).status).toBe(412);
  const lines = await auditOf(own.clientId, "app_updated");
  const by = { actorId: `app:${partner.app.clientId}`, actorRole: "PARTNER" };
  expect(lines).toContainEqual(
    expect.objectContaining({ ...by, before: { loginUrl: null, backchannelLogoutUri: null }, after: body }),
  );
  const bad = { backchannelLogoutUri: "ftp://app.example/" };
  expect(refusalOf(await partner.call("PATCH", path, { body: bad }))).toEqual([400, "uri_refused"]);
});

test("a secret is rotated once for one key, shown once, and the old one ends when told", async () => {
  const { clientId, clientSecret } = await make.app();
  const path = `/apps/${clientId}`;
  const headers = { "idempotency-key": "rotation" };
  const rotated = await operator.call("POST", `${path}/secret`, { headers });
  const again = await operator.call("POST", `${path}/secret`, { headers });
  expect([again.body, again.headers.get("idempotency-replayed")]).toEqual([rotated.body, "true"]);
  const { clientSecret: now, oldSecretEndsAt } = rotated.body as Schemas["AppCredentials"];
  expect(oldSecretEndsAt).toBe("2026-02-04T08:00:00.000Z");
  const read = await operator.call("GET", path);
  expect([rotated.headers.get("etag"), read.body]).toMatchObject([read.headers.get("etag"), { oldSecretEndsAt }]);
  expect([await getsToken(clientId, now!), await getsToken(clientId, clientSecret!)]).toEqual([true, true]);
  const lines = await auditOf(clientId, "client_secret_rotated");
  expect(lines).toMatchObject([{ ...actor, before: { oldSecretEndsAt: null }, after: { oldSecretEndsAt } }]);
  for (const secret of [now!, clientSecret!, ...(await secretsOf(clientId))])
    expect(JSON.stringify(lines)).not.toContain(secret);
  const stale = { "if-match": '"old"' };
  expect((await operator.call("DELETE", `${path}/old-secret`, { headers: stale })).status).toBe(412);
  expect((await operator.call("DELETE", `${path}/old-secret`)).status).toBe(204);
  expect([await getsToken(clientId, now!), await getsToken(clientId, clientSecret!)]).toEqual([true, false]);
  expect(refusalOf(await operator.call("DELETE", `${path}/old-secret`))).toEqual([404, "old_secret_not_found"]);
  expect(await auditOf(clientId, "client_secret_ended")).toMatchObject([
    { ...actor, after: { oldSecretEndsAt: null } },
  ]);
  const leaked = await operator.call("POST", `${path}/secret`, { body: { keepOldSeconds: 0 } });
  expect([leaked.body, await getsToken(clientId, now!)]).toMatchObject([{ oldSecretEndsAt: null }, false]);
});

test("the tokens that an app has got for itself end with a secret that leaked, and not with one that is replaced", async () => {
  const app = await make.app({ scopes: ["schools:read"] });
  const token = await getAppToken(service, app, ["schools:read"]);
  const read = async () => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${service.url}/idm/ep/v1/schools`, { headers })).status;
  };
  expect((await operator.call("POST", `/apps/${app.clientId}/secret`)).status).toBe(200);
  expect(await read()).toBe(200);
  await operator.call("POST", `/apps/${app.clientId}/secret`, { body: { keepOldSeconds: 0 } });
  expect(await read()).toBe(401);
});

test("a deleted app is gone, with its grants, and its client id is not given again", async () => {
  const { clientId } = await make.app({ name: "Gone" });
  await make.grant({ app: clientId, school });
  const { headers, body } = await operator.call("GET", `/apps/${clientId}`);
  const ifMatch = { "if-match": headers.get("etag")! };
  expect((await operator.call("DELETE", `/apps/${clientId}`, { headers: ifMatch })).status).toBe(204);
  expect(refusalOf(await operator.call("GET", `/apps/${clientId}`))).toEqual([404, "app_not_found"]);
  expect(await service.db.prisma.grant.count({ where: { clientId } })).toBe(0);
  expect(await auditOf(clientId, "app_deleted")).toMatchObject([{ ...actor, before: body, after: null }]);
  const again = await operator.call("POST", "/apps", { body: { clientId, name: "Again" } });
  expect(refusalOf(again)).toEqual([409, "client_id_retired"]);
});

test("what an app may read is given by an operator, to a new app and to one that is there", async () => {
  const attributes = ["PERSON_NAME", "SCHOOL_ADDRESS"];
  const body = { clientId: "narrow", name: "Narrow", attributes };
  expect((await operator.call("POST", "/apps", { body })).status).toBe(201);
  const read = async () => ((await operator.call("GET", "/apps/narrow")).body as Schemas["AdminApp"]).attributes;
  expect(await read()).toEqual(["SCHOOL_ADDRESS", "PERSON_NAME"]);
  expect((await operator.call("PATCH", "/apps/narrow", { body: { name: "Narrower" } })).status).toBe(204);
  expect(await read()).toEqual(["SCHOOL_ADDRESS", "PERSON_NAME"]);
  expect((await operator.call("PATCH", "/apps/narrow", { body: { attributes: [] } })).status).toBe(204);
  expect(await read()).toEqual([]);
  const change = { before: { attributes: ["SCHOOL_ADDRESS", "PERSON_NAME"] }, after: { attributes: [] } };
  expect(await auditOf("narrow", "app_updated")).toContainEqual(expect.objectContaining({ ...actor, ...change }));
  const wrong = await operator.call("PATCH", "/apps/narrow", { body: { attributes: ["BIRTHDAY"] } });
  expect(wrong.status).toBe(400);
  const changed = await partner.call("PATCH", `/apps/${own.clientId}`, { body: { attributes } });
  expect(refusalOf(changed)).toEqual([403, "role_forbids"]);
  const made = await partner.call("POST", "/apps", { body: { name: "Mine", attributes } });
  expect(refusalOf(made)).toEqual([403, "role_forbids"]);
});
