import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, type Sent, refusalOf, readPages, nextPage } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { startService } from "../../support/service.ts";
import { verify } from "../../support/webhooks.ts";

type Schemas = components["schemas"];
type Endpoint = Schemas["WebhookEndpoint"];
type Secret = Schemas["EndpointSecret"];

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const receiver = await startReceiver();
const make = makeMakers(service.db);
const own = (await make.app()).clientId;
const foreign = (await make.app()).clientId;
const operator = await makeStaff(service, "OPERATOR");
const partner = await makeStaff(service, "PARTNER", { clientIds: [own] });

const endpoints = "/webhook-endpoints";
const deliveries = "/webhook-deliveries";
const byPartner = { actorId: `app:${partner.app.clientId}`, actorRole: "PARTNER" };

const without = ({ status, body }: Sent) => ({ status, body: { ...(body as object), requestId: null } });

async function addTo(clientId: string, url = receiver.url): Promise<Secret & { path: string }> {
  const body = { clientId, url, eventTypes: ["person"] };
  const made = (await operator.call("POST", endpoints, { body })).body as Secret;
  return { ...made, path: `${endpoints}/${made.id}` };
}

async function auditOf(id: string, action: string) {
  const lines = await service.db.prisma.audit.findMany({ where: { action }, orderBy: { id: "asc" } });
  return lines.filter(({ detail }) => (detail as { endpointId?: string } | null)?.endpointId === id);
}

const deliver = () => service.runJob("webhooks.deliver");

async function sendTest(path: string): Promise<string> {
  const { body } = await partner.call("POST", `${path}/test`);
  return (body as Schemas["QueuedDelivery"]).deliveryId;
}

test("an endpoint is registered once for one key, with a secret that signs and is in no audit line", async () => {
  const body = { clientId: own, url: `${receiver.url}/once`, eventTypes: ["school", "person"] };
  const headers = { "idempotency-key": "first" };
  const made = await partner.call("POST", endpoints, { body, headers });
  const again = await partner.call("POST", endpoints, { body, headers });
  const { id, secret, oldValidUntil } = made.body as Secret;
  const path = `${endpoints}/${id}`;
  expect([made.status, made.headers.get("location"), oldValidUntil]).toEqual([201, `/admin/v1${path}`, null]);
  expect([again.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([201, made.body, "true"]);
  expect(await service.db.prisma.webhookEndpoint.count({ where: { url: body.url } })).toBe(1);
  const read = await partner.call("GET", path);
  const { pending, listensUntil, ...state } = read.body as Endpoint;
  expect([pending, listensUntil, state]).toEqual([
    0,
    null,
    {
      id,
      clientId: own,
      url: body.url,
      eventTypes: ["person", "school"],
      state: "ACTIVE",
      reason: "none",
      stateChangedAt: "2026-02-03T08:00:00.000Z",
      createdAt: "2026-02-03T08:00:00.000Z",
      resumeAt: null,
      failingSince: null,
    },
  ]);
  await sendTest(path);
  await deliver();
  const [received] = receiver.received.filter((call) => call.path === "/once");
  expect(verify(received!, secret)).toEqual({ ep: true, standard: true });
  const lines = await auditOf(id, "webhook_endpoint_registered");
  expect(lines).toMatchObject([{ ...byPartner, clientId: own, before: null, after: state }]);
  expect(JSON.stringify(await service.db.prisma.audit.findMany({ orderBy: { id: "asc" } }))).not.toContain(secret);
  const other = await partner.call("POST", endpoints, { body: { ...body, eventTypes: ["person"] }, headers });
  expect(refusalOf(other)).toEqual([422, "idempotency_key_reused"]);
  const bad = { body: { ...body, url: "ftp://app.example/" } };
  expect(refusalOf(await partner.call("POST", endpoints, bad))).toEqual([400, "webhook_url_refused"]);
  const ofNobody = { body: { ...bad.body, clientId: "no-such-app" } };
  const ofAnother = { body: { ...bad.body, clientId: foreign } };
  const unknown = await partner.call("POST", endpoints, ofNobody);
  expect(refusalOf(unknown)).toEqual([404, "app_not_found"]);
  expect(without(await partner.call("POST", endpoints, ofAnother))).toEqual(without(unknown));
  expect(without(await operator.call("POST", endpoints, ofNobody))).toEqual(without(unknown));
});

test("a partner lists the endpoints of their own apps, an operator all, page by page", async () => {
  const [own, foreign] = [(await make.app()).clientId, (await make.app()).clientId];
  const partner = await makeStaff(service, "PARTNER", { clientIds: [own] });
  for (const clientId of [own, own, foreign]) await addTo(clientId);
  const all = (await readPages<Endpoint>(operator.call, `${endpoints}?limit=1`)).flat();
  expect((await operator.call("GET", endpoints)).body).toEqual(all);
  expect(new Set(all.map(({ id }) => id)).size).toBe(await service.db.prisma.webhookEndpoint.count());
  const mine = all.filter(({ clientId }) => clientId === own);
  expect(mine).toHaveLength(2);
  expect((await partner.call("GET", endpoints)).body).toEqual(mine);
  expect((await operator.call("GET", `${endpoints}?app=${own}`)).body).toEqual(mine);
  expect((await partner.call("GET", `${endpoints}?app=${own}`)).body).toEqual(mine);
  const unknown = await partner.call("GET", `${endpoints}?app=no-such-app`);
  expect(refusalOf(unknown)).toEqual([404, "app_not_found"]);
  expect(without(await partner.call("GET", `${endpoints}?app=${foreign}`))).toEqual(without(unknown));
  expect(without(await operator.call("GET", `${endpoints}?app=no-such-app`))).toEqual(without(unknown));
  expect(refusalOf(await operator.call("GET", `${endpoints}?cursor=x`))).toEqual([400, "invalid_cursor"]);
});

test("an endpoint is changed from the state that was read; the audit says what differs", async () => {
  const { id, path } = await addTo(own);
  const { headers } = await partner.call("GET", path);
  await sendTest(path);
  const ifMatch = { "if-match": headers.get("etag")! };
  const body = { url: `${receiver.url}/other`, eventTypes: ["group"], state: "PAUSED" };
  const changed = await partner.call("PATCH", path, { body, headers: ifMatch });
  const read = await partner.call("GET", path);
  expect([changed.status, changed.headers.get("etag")]).toEqual([204, read.headers.get("etag")]);
  expect(read.body).toMatchObject({ ...body, reason: "asked_for", pending: 1 });
  const stale = await partner.call("PATCH", path, { body: { state: "ACTIVE" }, headers: ifMatch });
  expect([...refusalOf(stale), (stale.body as { current: unknown }).current]).toEqual([
    ...[412, "precondition_failed"],
    read.body,
  ]);
  expect((await partner.call("DELETE", path, { headers: ifMatch })).status).toBe(412);
  const before = { url: `${receiver.url}/`, eventTypes: ["person"], state: "ACTIVE", reason: "none" };
  const difference = { ...byPartner, clientId: own, before, after: { ...body, reason: "asked_for" } };
  expect(await auditOf(id, "webhook_endpoint_changed")).toMatchObject([difference]);
  expect(await auditOf(id, "webhook_endpoint_paused")).toMatchObject([difference]);
  const refused = { url: "ftp://app.example/", state: "ACTIVE" };
  expect(refusalOf(await partner.call("PATCH", path, { body: refused }))).toEqual([400, "webhook_url_refused"]);
  expect((await partner.call("PATCH", path, { body: { state: "ACTIVE" } })).status).toBe(204);
  const twice = await partner.call("PATCH", path, { body: { eventTypes: ["person"], state: "ACTIVE" } });
  expect(refusalOf(twice)).toEqual([409, "webhook_endpoint_active"]);
  expect((await partner.call("PATCH", path, { body: { state: "DISABLED" } })).status).toBe(204);
  expect((await partner.call("GET", path)).body).toMatchObject({
    state: "DISABLED",
    eventTypes: ["group"],
    pending: 0,
  });
  const disabled = [
    await partner.call("PATCH", path, { body: { state: "PAUSED" } }),
    await partner.call("POST", `${path}/test`),
    await partner.call("POST", `${path}/redelivery`, { body: { since: "2026-02-03T00:00:00Z" } }),
  ];
  for (const sent of disabled) expect(refusalOf(sent)).toEqual([409, "webhook_endpoint_disabled"]);
});

test("a deleted endpoint is gone with its log", async () => {
  const { id, path } = await addTo(own);
  const deliveryId = await sendTest(path);
  const { headers, body } = await partner.call("GET", path);
  const { pending: _, listensUntil: _until, ...state } = body as Endpoint;
  const ifMatch = { "if-match": headers.get("etag")! };
  expect((await partner.call("DELETE", path, { headers: ifMatch })).status).toBe(204);
  expect(refusalOf(await partner.call("GET", path))).toEqual([404, "webhook_endpoint_not_found"]);
  expect(refusalOf(await operator.call("GET", `${deliveries}/${deliveryId}`))[0]).toBe(404);
  expect(await service.db.prisma.webhookDelivery.count({ where: { endpointId: id } })).toBe(0);
  expect(await service.db.prisma.webhookSecret.count({ where: { endpointId: id } })).toBe(0);
  expect(await auditOf(id, "webhook_endpoint_removed")).toMatchObject([{ ...byPartner, before: state, after: null }]);
});

test("a secret is rotated once for one key, shown once, and the old one ends", async () => {
  const { id, path, secret: old } = await addTo(own, `${receiver.url}/rotated`);
  const headers = { "idempotency-key": "rotation" };
  const rotated = await partner.call("POST", `${path}/secret`, { headers });
  const again = await partner.call("POST", `${path}/secret`, { headers });
  expect([again.body, again.headers.get("idempotency-replayed")]).toEqual([rotated.body, "true"]);
  const { secret, oldValidUntil } = rotated.body as Secret;
  expect([rotated.status, oldValidUntil, secret === old]).toEqual([200, "2026-02-04T08:00:00.000Z", false]);
  expect(await service.db.prisma.webhookSecret.count({ where: { endpointId: id } })).toBe(2);
  const leaked = await partner.call("POST", `${path}/secret`, { body: { overlapHours: 0 } });
  const { secret: last } = leaked.body as Secret;
  expect(leaked.body).toMatchObject({ id, oldValidUntil: null });
  await sendTest(path);
  await deliver();
  const received = receiver.received.find((call) => call.path === "/rotated")!;
  expect([last, secret, old].map((one) => verify(received, one).standard)).toEqual([true, false, false]);
  const lines = await auditOf(id, "webhook_secret_rotated");
  for (const { actorId, actorRole, before } of lines)
    expect({ actorId, actorRole, before }).toEqual({ ...byPartner, before: null });
  const ends = lines.map(({ after }) => (after as { oldValidUntil: string | null }).oldValidUntil);
  expect([ends.length, new Set(ends)]).toEqual([2, new Set([oldValidUntil, null])]);
  for (const one of [old, secret, last]) expect(JSON.stringify(lines)).not.toContain(one);
});

test("a test is sent once for one key; its delivery shows every attempt and is sent again", async () => {
  const { id, path } = await addTo(own, `${receiver.url}/log`);
  const asked = { body: { eventType: "group" }, headers: { "idempotency-key": "test" } };
  const sent = await partner.call("POST", `${path}/test`, asked);
  const again = await partner.call("POST", `${path}/test`, asked);
  expect([sent.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([202, sent.body, "true"]);
  const { deliveryId } = sent.body as Schemas["QueuedDelivery"];
  expect(await auditOf(id, "webhook_test_sent")).toMatchObject([{ ...byPartner, clientId: own }]);
  const one = `${deliveries}/${deliveryId}`;
  expect(refusalOf(await partner.call("POST", `${one}/redelivery`))).toEqual([409, "webhook_delivery_pending"]);
  receiver.script(answer(204));
  await deliver();
  const read = await partner.call("GET", one);
  expect(read.headers.get("etag")).toMatch(/^"/);
  const { delivery, log } = read.body as Schemas["DeliveryWithLog"];
  expect(delivery).toMatchObject({ deliveryId, endpointId: id, eventType: "group", isTest: true, state: "DELIVERED" });
  expect(log).toMatchObject([{ number: 1, status: 204, error: null }]);
  expect((await partner.call("POST", `${one}/redelivery`)).status).toBe(202);
  const finishedAt = "2026-02-03T08:00:00.000Z";
  expect(await auditOf(id, "webhook_deliveries_repeated")).toMatchObject([
    {
      ...byPartner,
      before: { state: "DELIVERED", nextAttemptAt: null, finishedAt },
      after: { state: "PENDING", nextAttemptAt: finishedAt, finishedAt: null },
    },
  ]);
  await deliver();
  const after = (await partner.call("GET", one)).body as Schemas["DeliveryWithLog"];
  expect([after.delivery.state, after.log.map(({ number }) => number)]).toEqual(["DELIVERED", [1, 2]]);
  const calls = receiver.received.filter((call) => call.path === "/log");
  expect(calls.map(({ headers }) => headers["webhook-id"])).toEqual([delivery.messageId, delivery.messageId]);
});

test("deliveries are listed, the newest first, and those that failed are sent again from a time on", async () => {
  const { id, path } = await addTo(own, `${receiver.url}/failed`);
  const ids = [await sendTest(path), await sendTest(path), await sendTest(path)];
  const idsOf = ({ body }: Sent) => (body as Schemas["Delivery"][]).map(({ deliveryId }) => deliveryId);
  const first = await partner.call("GET", `${path}/deliveries?limit=2`);
  const last = await partner.call("GET", nextPage(first)!);
  expect([idsOf(first), idsOf(last), last.headers.get("link")]).toEqual([[ids[2], ids[1]], [ids[0]], null]);
  const [oldest, middle] = ids.map(BigInt) as [bigint, bigint, bigint];
  const failed = { state: "FAILED", dueAt: null, finishedAt: service.clock() } as const;
  const { webhookDelivery } = service.db.prisma;
  await webhookDelivery.updateMany({ where: { id: { in: [oldest, middle] } }, data: failed });
  await webhookDelivery.update({ where: { id: oldest }, data: { createdAt: new Date("2026-02-01T08:00:00Z") } });
  expect(idsOf(await partner.call("GET", `${path}/deliveries?state=FAILED`))).toEqual([ids[1], ids[0]]);
  const sent = await partner.call("POST", `${path}/redelivery`, { body: { since: "2026-02-03T00:00:00Z" } });
  expect([sent.status, sent.body]).toEqual([202, { deliveries: 1 }]);
  expect(idsOf(await partner.call("GET", `${path}/deliveries?state=FAILED`))).toEqual([ids[0]]);
  const lines = await auditOf(id, "webhook_deliveries_repeated");
  expect(lines).toMatchObject([{ ...byPartner, clientId: own, detail: { endpointId: id, deliveries: 1 } }]);
});
