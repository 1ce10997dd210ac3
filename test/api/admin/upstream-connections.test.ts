import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import type { SchoolId } from "../../../src/directory/index.ts";
import { idsOf, makeStaff, refusalOf, type AdminClient } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../../support/upstream-provider.ts";

type Connection = components["schemas"]["UpstreamConnection"];

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const { db, clock } = service;
const make = makeMakers(db);
const [school, other] = [await make.school({ name: "Goethe" }), await make.school()];
const operator = await makeStaff(service, "OPERATOR");
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const support = await makeStaff(service, "SUPPORT", { schoolIds: [other] });
const stranger = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [other] });

const connections = "/upstream-connections";
const pathOf = ({ id }: { id: string }) => `${connections}/${id}`;

async function create(call: AdminClient, given: object = {}, schoolId: SchoolId = school): Promise<Connection> {
  const body = { schoolId, profile: "OIDC", name: "Own login", ...given };
  const made = await call("POST", connections, { body });
  expect([made.status, made.body]).toEqual([201, made.body]);
  return made.body as Connection;
}

const read = async (of: { id: string }, { call } = admin) => (await call("GET", pathOf(of))).body as Connection;
const patch = (of: { id: string }, body: object, { call } = admin) => call("PATCH", pathOf(of), { body });

test("a connection is created once for one key, as a draft with what its profile says", async () => {
  const body = { schoolId: school, profile: "ISERV", name: "IServ" };
  const headers = { "idempotency-key": "iserv" };
  const made = await admin.call("POST", connections, { body, headers });
  const again = await admin.call("POST", connections, { body, headers });
  const connection = made.body as Connection;
  expect([made.status, made.headers.get("location")]).toEqual([201, `/admin/v1${pathOf(connection)}`]);
  expect([again.body, again.headers.get("idempotency-replayed")]).toEqual([made.body, "true"]);
  expect(connection).toMatchObject({
    schoolName: "Goethe",
    state: "DRAFT",
    hasSecret: false,
    issuer: null,
    ruleClaim: null,
    lastFailure: "NONE",
    authMethod: "client_secret_post",
    subjectClaim: "uuid",
    trustedForSecondFactor: false,
    groupIds: [],
    redirectUri: `${service.url}${pathOf(connection).replace(connections, "/upstream")}/callback`,
  });
  const found = await admin.call("GET", pathOf(connection));
  expect([found.body, found.headers.get("etag")]).toEqual([connection, made.headers.get("etag")]);
});

test("a secret is stored encrypted, and is in no answer and no line of the audit log", async () => {
  const secret = "very-secret-value";
  const connection = await create(admin.call, { issuer: "https://one.example", clientId: "a", clientSecret: secret });
  expect(
    (await patch(connection, { clientSecret: `${secret}-2`, secretExpiresAt: "2027-01-01T00:00:00Z" })).status,
  ).toBe(204);
  const after = await read(connection);
  expect(after).toMatchObject({ hasSecret: true, secretExpiresAt: "2027-01-01T00:00:00.000Z" });
  const row = await db.prisma.upstreamConnection.findUniqueOrThrow({ where: { id: connection.id } });
  const lines = await db.prisma.audit.findMany({ where: { schoolId: school }, orderBy: { action: "asc" } });
  expect(JSON.stringify([after, lines])).not.toContain(secret);
  expect(Buffer.from(row.clientSecret!).toString("latin1")).not.toContain(secret);
  const line = { actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN" };
  expect(
    lines.filter(({ detail }) => (detail as { connectionId?: string }).connectionId === connection.id),
  ).toMatchObject([
    { ...line, action: "upstream_connection_created", before: null, after: { name: "Own login", hasSecret: true } },
    { ...line, action: "upstream_connection_updated", after: { secretExpiresAt: "2027-01-01T00:00:00.000Z" } },
  ]);
});

test("a change that was made from an earlier state is refused with the present one", async () => {
  const connection = await create(admin.call);
  const { headers } = await admin.call("GET", pathOf(connection));
  const ifMatch = { "if-match": headers.get("etag")! };
  // What the service notes about it is no other state.
  await db.prisma.upstreamConnection.update({ where: { id: connection.id }, data: { lastSuccessAt: clock() } });
  const changed = await admin.call("PATCH", pathOf(connection), { body: { name: "IServ" }, headers: ifMatch });
  expect([changed.status, changed.headers.get("etag")]).toEqual([
    204,
    (await admin.call("GET", pathOf(connection))).headers.get("etag"),
  ]);
  const stale = await admin.call("PATCH", pathOf(connection), { body: { name: "Moodle" }, headers: ifMatch });
  expect([refusalOf(stale), (stale.body as { current: Connection }).current.name]).toEqual([
    [412, "precondition_failed"],
    "IServ",
  ]);
  expect(refusalOf(await admin.call("DELETE", pathOf(connection), { headers: ifMatch }))).toEqual([
    412,
    "precondition_failed",
  ]);
});

test("nobody is switched on before issuer, client id, secret and a test sign-in", async () => {
  const connection = await create(admin.call, { issuer: "https://two.example", clientId: "a" });
  expect(refusalOf(await patch(connection, { state: "ON" }))).toEqual([409, "upstream_incomplete"]);
  expect(refusalOf(await patch(connection, { state: "ON", clientSecret: "secret" }))).toEqual([
    409,
    "upstream_not_tested",
  ]);
  expect((await read(connection)).hasSecret).toBe(false);
  await patch(connection, { clientSecret: "secret" });
  await db.prisma.upstreamConnection.update({ where: { id: connection.id }, data: { testedAt: clock() } });
  expect((await patch(connection, { state: "ON" })).status).toBe(204);
  expect((await read(connection)).state).toBe("ON");
  expect((await patch(connection, { state: "OFF" })).status).toBe(204);
  expect((await read(connection)).state).toBe("OFF");
  expect((await patch(connection, { issuer: "https://moved.example" })).status).toBe(204);
  expect(await read(connection)).toMatchObject({ state: "DRAFT", testedAt: null });
});

test("only an operator trusts a provider for the second factor", async () => {
  const trusting = { trustedForSecondFactor: true };
  const body = { schoolId: school, profile: "OIDC", name: "Trusted", ...trusting };
  expect(refusalOf(await admin.call("POST", connections, { body }))).toEqual([403, "role_forbids"]);
  const connection = await create(admin.call, { name: "Trusted" });
  expect(refusalOf(await patch(connection, trusting))).toEqual([403, "role_forbids"]);
  expect((await patch(connection, trusting, operator)).status).toBe(204);
  // The school may send back what it read.
  expect((await patch(connection, { ...trusting, name: "Still trusted" })).status).toBe(204);
  expect(refusalOf(await patch(connection, { trustedForSecondFactor: false }))).toEqual([403, "role_forbids"]);
  expect(await read(connection)).toMatchObject({ ...trusting, name: "Still trusted" });
});

test("settings that name nobody safely are refused, and groups of another school do not exist", async () => {
  const connection = await create(admin.call);
  const refuse = async (body: object) => refusalOf(await patch(connection, body));
  const rule = { ruleClaim: "email", ruleField: "USERNAME" };
  expect(await refuse(rule)).toEqual([400, "upstream_claim_mutable"]);
  expect(await refuse({ issuer: "ftp://provider.example" })).toEqual([400, "upstream_issuer_malformed"]);
  expect(await refuse({ name: "  " })).toEqual([400, "text_empty"]);
  expect(await refuse({ subjectClaim: "email" })).toEqual([400, "upstream_claim_malformed"]);
  expect(await refuse({ groupIds: [await make.group({ school: other })] })).toEqual([404, "group_not_found"]);
  expect(await refuse({})).toEqual([400, "invalid_request"]);
  expect(await read(connection)).toEqual(connection);
  const same = { issuer: "https://same.example", clientId: "same" };
  await create(admin.call, same);
  expect(await refuse(same)).toEqual([409, "upstream_connection_exists"]);
});

test("an operator lists those of all schools, or those that need somebody; a school its own", async () => {
  const failing = await create(operator.call, { name: "Failing" }, other);
  clock.forwardSeconds(1);
  const expiring = await create(operator.call, { name: "Expiring", secretExpiresAt: "2026-03-01T00:00:00Z" }, other);
  const data = { failingSince: clock(), lastFailure: "SECRET_REFUSED", lastFailureAt: clock() };
  await db.prisma.upstreamConnection.update({ where: { id: failing.id }, data });
  const on = { state: "ON", issuer: "https://iserv.example", clientId: "schultor", testedAt: clock() } as const;
  const list = async (query: string, { call } = operator) => idsOf(await call("GET", `${connections}${query}`));
  // One that is not on lets nobody in anyway.
  expect(await list(`?failing=true&school=${other}`)).toEqual([]);
  for (const { id } of [failing, expiring])
    await db.prisma.upstreamConnection.update({
      where: { id },
      data: { ...on, clientId: id, clientSecret: new Uint8Array(48) },
    });
  expect(await list("?failing=true")).toContain(failing.id);
  expect(await list(`?failing=true&school=${other}`)).toEqual([failing.id]);
  expect(await list("?secret-expiring=true", support)).toEqual([expiring.id]);
  expect(await list(`?school=${other}`)).toEqual([failing.id, expiring.id]);
  expect(await list(`?school=${other}&failing=false&secret-expiring=false`)).toEqual([]);
  expect(await list("", stranger)).toEqual([failing.id, expiring.id]);
  expect(await list("?limit=1", stranger)).toEqual([failing.id]);
  expect(await list("", admin)).not.toContain(failing.id);
  expect(await list("")).toEqual(expect.arrayContaining([failing.id, ...(await list("", admin))]));
  expect((await read(failing, support)).lastFailure).toBe("SECRET_REFUSED");
  expect(refusalOf(await admin.call("GET", `${connections}?school=${other}`))).toEqual([404, "school_not_found"]);
});

test("the provider is read on request: its endpoints, or what is wrong", async () => {
  const provider = await startUpstreamProvider();
  const credentials = { issuer: provider.issuer, clientId, clientSecret };
  const connection = await create(admin.call, credentials);
  const check = async (of: Connection) => (await admin.call("POST", `${pathOf(of)}/metadata`)).body;
  expect(await check(connection)).toEqual({
    isReached: true,
    authorizationEndpoint: `${provider.issuer}/auth`,
    tokenEndpoint: `${provider.issuer}/token`,
    userinfoEndpoint: `${provider.issuer}/me`,
    jwksUri: `${provider.issuer}/jwks`,
    failure: "NONE",
    detail: null,
  });
  expect((await read(connection)).metadataReadAt).toBe(clock().toISOString());
  await provider.close();
  expect(await check(connection)).toMatchObject({ isReached: false, jwksUri: null, failure: "UPSTREAM_DOWN" });
  expect(await read(connection)).toMatchObject({ lastFailure: "UPSTREAM_DOWN", failingSince: clock().toISOString() });
  const draft = await create(admin.call);
  const refused = await admin.call("POST", `${pathOf(draft)}/metadata`);
  expect(refusalOf(refused)).toEqual([409, "upstream_incomplete"]);
});

test("a deleted connection is gone with its links", async () => {
  const connection = await create(admin.call);
  const person = await make.person({ school });
  const link = { issuer: "https://x.example", subject: "s", linkedAt: clock(), linkedBy: "STAFF" as const };
  await db.prisma.upstreamLink.create({ data: { ...link, connectionId: connection.id, personId: person } });
  expect((await admin.call("DELETE", pathOf(connection))).status).toBe(204);
  expect(refusalOf(await admin.call("GET", pathOf(connection)))).toEqual([404, "upstream_connection_not_found"]);
  expect(await db.prisma.upstreamLink.count({ where: { personId: person } })).toBe(0);
  const [line] = await db.prisma.audit.findMany({
    where: { action: "upstream_connection_deleted" },
    orderBy: { id: "asc" },
  });
  expect(line).toMatchObject({ schoolId: school, before: { name: "Own login" } });
});
