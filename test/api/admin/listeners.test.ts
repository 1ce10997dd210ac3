import { once } from "node:events";
import { beforeEach, expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { insertEvents } from "../../support/app-events.ts";
import { makeMakers } from "../../support/make.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { startService } from "../../support/service.ts";
import { verify } from "../../support/webhooks.ts";

type Schemas = components["schemas"];
type Taken = Schemas["TakenDeliveries"];

const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
const service = await startService({ env });
const make = makeMakers(service.db);
const operator = await makeStaff(service, "OPERATOR");
const receiver = await startReceiver(answer(204));

const { runJob } = service;
const start = service.clock();
beforeEach(() => service.clock.set(start));

async function makeWorld() {
  const { clientId } = await make.app();
  const { call } = await makeStaff(service, "PARTNER", { clientIds: [clientId] });
  const create = (eventTypes = ["person", "group"]) =>
    call("POST", "/webhook-listeners", { body: { clientId, eventTypes } });
  const listener = async () => {
    const { id, secret } = (await create()).body as Schemas["EndpointSecret"];
    const path = `/webhook-endpoints/${id}`;
    const take = async (body: Schemas["DeliveriesWanted"] = {}) =>
      ((await call("POST", `${path}/taken-deliveries`, { body })).body as Taken).deliveries;
    const report = (...attempts: Schemas["ReportedAttempt"][]) =>
      call("POST", `${path}/attempts`, { body: { attempts } });
    const replay = (body: Schemas["Replay"]) => call("POST", `${path}/replays`, { body });
    return { id, secret, path, take, report, replay };
  };
  /** Makes events of different people for the app, and the deliveries of them; answers their webhook-ids. */
  const tell = async (...subjectIds: string[]) => {
    const told = await insertEvents(
      service.db,
      service.clock(),
      subjectIds.map((subjectId) => ({ clientId, type: "person" as const, subjectId })),
    );
    await runJob("webhooks.fanOut");
    return told;
  };
  const log = async (deliveryId: string) =>
    (await call("GET", `/webhook-deliveries/${deliveryId}`)).body as Schemas["DeliveryWithLog"];
  return { clientId, call, create, listener, tell, log };
}

const attemptOf = (deliveryId: string, status: number | null, error: string | null = null) => ({
  deliveryId,
  durationMs: 12,
  status,
  error,
});

test("a delivery is fetched as it would be sent, and what came of it is its attempt", async () => {
  const { listener, tell, log } = await makeWorld();
  const { take, report, secret } = await listener();
  expect(await take()).toEqual([]);
  const subject = crypto.randomUUID();
  await tell(subject);
  const [one, ...others] = await take();
  expect([others, one!.eventType, one!.attempt]).toEqual([[], "person", 1]);
  expect(JSON.parse(one!.body)).toMatchObject({ event: "person", personId: subject });
  const headers = Object.fromEntries(Object.entries(one!.headers).map(([name, value]) => [name.toLowerCase(), value]));
  expect(verify({ headers, body: one!.body, path: "/", at: 0 }, secret)).toEqual({ ep: true, standard: true });
  expect(await take()).toEqual([]);
  expect((await report(attemptOf(one!.deliveryId, 204))).status).toBe(204);
  const { delivery, log: attempts } = await log(one!.deliveryId);
  expect([delivery.state, attempts]).toMatchObject(["DELIVERED", [{ number: 1, status: 204, durationMs: 12 }]]);
});

test("what a machine did not take is due again as at other endpoints, what was never reported after a minute", async () => {
  const { listener, tell, log } = await makeWorld();
  const { take, report } = await listener();
  await tell(crypto.randomUUID());
  const [one] = await take();
  await report(attemptOf(one!.deliveryId, null, "ECONNREFUSED: connect\nECONNREFUSED 127.0.0.1:4100"));
  const { delivery, log: attempts } = await log(one!.deliveryId);
  expect(delivery.state).toBe("PENDING");
  expect(attempts).toMatchObject([{ status: null, error: "ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:4100" }]);
  expect(await take()).toEqual([]);
  service.clock.forwardSeconds(7);
  expect(await take()).toMatchObject([{ deliveryId: one!.deliveryId, attempt: 2 }]);
  expect(await take()).toEqual([]);
  service.clock.forwardSeconds(61);
  expect(await take()).toMatchObject([{ deliveryId: one!.deliveryId, attempt: 2 }]);
});

test("events of one person come one after the other, and each listening endpoint gets all", async () => {
  const { listener, tell } = await makeWorld();
  const before = receiver.received.length;
  const [one, other] = [await listener(), await listener()];
  const subject = crypto.randomUUID();
  await tell(subject, subject, crypto.randomUUID());
  const first = await one.take();
  expect(first.length).toBe(2);
  await one.report(...first.map(({ deliveryId }) => attemptOf(deliveryId, 200)));
  expect((await one.take()).length).toBe(1);
  expect((await other.take()).length).toBe(2);
  await runJob("webhooks.deliver");
  expect(receiver.received).toHaveLength(before);
});

test("a request waits without a connection until something is due; of two for one endpoint the last waits", async () => {
  const { listener, tell } = await makeWorld();
  const { take } = await listener();
  const { pool } = service.shares.changes;
  const [first, second] = [take({ waitSeconds: 25 }), take({ waitSeconds: 25 })];
  expect(await Promise.race([first, second])).toEqual([]);
  while (pool.idleCount < pool.totalCount) await once(pool, "release");
  await tell(crypto.randomUUID());
  const found = [...(await first), ...(await second)];
  expect(found.length).toBe(1);
});

test("many wait at once with the few connections that there are", async () => {
  const worlds = await Promise.all(Array.from({ length: 12 }, makeWorld));
  const waiting = await Promise.all(
    worlds.map(async ({ listener, tell }) => {
      const { take } = await listener();
      const wait = async () => {
        for (;;) {
          const found = await take({ waitSeconds: 25 });
          if (found.length > 0) return found;
        }
      };
      return { found: wait(), tell };
    }),
  );
  expect((await operator.call("GET", "/webhook-endpoints?limit=1")).status).toBe(200);
  for (const { tell } of waiting) await tell(crypto.randomUUID());
  for (const { found } of waiting) expect((await found).length).toBe(1);
});

test("a service that stops answers those who wait at once", async () => {
  const other = await startService({ env, db: service.db, clock: service.clock });
  const { clientId } = await make.app();
  const { call } = await makeStaff(other, "PARTNER", { clientIds: [clientId] });
  const made = await call("POST", "/webhook-listeners", { body: { clientId, eventTypes: ["person"] } });
  const path = `/webhook-endpoints/${(made.body as Schemas["EndpointSecret"]).id}/taken-deliveries`;
  const waiting = call("POST", path, { body: { waitSeconds: 25 } });
  const later = call("POST", path, { body: { waitSeconds: 25 } });
  // Of two the first is answered when the second waits.
  await Promise.race([waiting, later]);
  other.endWaits();
  for (const { body } of await Promise.all([waiting, later])) expect(body).toMatchObject({ deliveries: [] });
});

test("one from which nothing is fetched ends with its deliveries, one that is used does not", async () => {
  const { listener, tell, call } = await makeWorld();
  const [used, left] = [await listener(), await listener()];
  await tell(crypto.randomUUID());
  for (let minutes = 0; minutes < 20; minutes += 10) {
    await used.take();
    service.clock.forwardSeconds(600);
    await runJob("webhooks.endListeners");
  }
  expect((await call("GET", used.path)).status).toBe(200);
  for (const gone of [await call("GET", left.path), await call("POST", `${left.path}/taken-deliveries`, { body: {} })])
    expect(refusalOf(gone)).toEqual([404, "webhook_endpoint_not_found"]);
  const { prisma } = service.db;
  expect(await prisma.webhookDelivery.count({ where: { endpointId: left.id } })).toBe(0);
  expect(await prisma.webhookSecret.count({ where: { endpointId: left.id } })).toBe(0);
  const lines = await prisma.audit.findMany({ where: { action: "webhook_endpoint_removed" }, orderBy: { id: "asc" } });
  expect(lines.filter(({ detail }) => (detail as { endpointId: string }).endpointId === left.id).length).toBe(1);
  service.clock.forwardSeconds(901);
  await tell(crypto.randomUUID());
  expect(await prisma.webhookDelivery.count({ where: { endpointId: used.id } })).toBe(1);
});

test("what the app got before is sent once more: one delivery, or the last ones of all its endpoints", async () => {
  const { listener, tell, clientId, log } = await makeWorld();
  const body = { clientId, url: receiver.url, eventTypes: ["person"] };
  await operator.call("POST", "/webhook-endpoints", { body });
  const sent: string[] = [];
  for (let n = 0; n < 3; n++) sent.push(...(await tell(crypto.randomUUID())));
  const before = receiver.received.length;
  await runJob("webhooks.deliver");
  expect(receiver.received).toHaveLength(before + 3);
  service.clock.forwardSeconds(60);
  const { take, replay, report, id } = await listener();
  const replayed = await replay({ last: 2 });
  expect([replayed.status, replayed.body]).toEqual([202, { deliveries: 2 }]);
  const found = await take();
  expect(found.map(({ headers }) => headers["webhook-id"]).sort()).toEqual(sent.slice(1).sort());
  await report(...found.map(({ deliveryId }) => attemptOf(deliveryId, 200)));
  const [original] = await service.db.prisma.webhookDelivery.findMany({ where: { messageId: sent[0]! } });
  expect((await replay({ deliveryId: String(original!.id) })).body).toEqual({ deliveries: 1 });
  const [again] = await take();
  expect(again).toMatchObject({ body: original!.body });
  expect((await log(again!.deliveryId)).delivery.createdAt).toBe(original!.createdAt.toISOString());
  const other = await makeWorld();
  const foreign = await (await other.listener()).replay({ deliveryId: String(original!.id) });
  expect(refusalOf(foreign)).toEqual([404, "webhook_delivery_not_found"]);
  expect(refusalOf(await replay({ deliveryId: "999999" }))).toEqual([404, "webhook_delivery_not_found"]);
  const actions = await service.db.prisma.audit.findMany({
    where: { action: "webhook_deliveries_repeated" },
    orderBy: { id: "asc" },
  });
  expect(actions.map(({ detail }) => detail)).toContainEqual({ endpointId: id, deliveries: 2 });
});

test("an app has five at most, each made once for one key, with a secret that is in no audit line", async () => {
  const { create, call, clientId } = await makeWorld();
  const request = { body: { clientId, eventTypes: ["person"] }, headers: { "idempotency-key": "first" } };
  const made = await call("POST", "/webhook-listeners", request);
  const again = await call("POST", "/webhook-listeners", request);
  expect([made.status, again.body]).toEqual([201, made.body]);
  const { id, secret } = made.body as Schemas["EndpointSecret"];
  expect(made.headers.get("location")).toBe(`/admin/v1/webhook-endpoints/${id}`);
  for (let n = 2; n <= 5; n++) expect((await create()).status).toBe(201);
  expect(refusalOf(await create())).toEqual([409, "webhook_listener_limit"]);
  const { body } = await call("GET", `/webhook-endpoints/${id}`);
  expect(body).toMatchObject({
    url: "about:listener",
    listensUntil: new Date(service.clock().getTime() + 900_000).toISOString(),
  });
  const lines = await service.db.prisma.audit.findMany({ where: { clientId }, orderBy: { id: "asc" } });
  expect(lines.filter(({ action }) => action === "webhook_endpoint_registered").length).toBe(5);
  expect(JSON.stringify(lines)).not.toContain(secret);
  const update = await call("PATCH", `/webhook-endpoints/${id}`, { body: { url: receiver.url } });
  expect(refusalOf(update)).toEqual([400, "webhook_url_refused"]);
  expect((await call("DELETE", `/webhook-endpoints/${id}`)).status).toBe(204);
  expect((await create()).status).toBe(201);
});

test("nobody else may fetch, report or replay, and an endpoint with an address is none of these", async () => {
  const { listener, tell } = await makeWorld();
  const { path, take } = await listener();
  await tell(crypto.randomUUID());
  const other = await makeWorld();
  const otherListener = await other.listener();
  const [one] = await take();
  const asked = [
    ["taken-deliveries", {}],
    ["attempts", { attempts: [attemptOf(one!.deliveryId, 204)] }],
    ["replays", { last: 1 }],
  ] as const;
  const body = { clientId: other.clientId, url: receiver.url, eventTypes: ["person"] };
  const { id } = (await operator.call("POST", "/webhook-endpoints", { body })).body as Schemas["EndpointSecret"];
  for (const [end, given] of asked) {
    for (const place of [path, `/webhook-endpoints/${id}`])
      expect(refusalOf(await other.call("POST", `${place}/${end}`, { body: given })), `${place} ${end}`).toEqual([
        ...[404, "webhook_endpoint_not_found"],
      ]);
  }
  const foreign = await otherListener.report(attemptOf(one!.deliveryId, 204));
  expect(refusalOf(foreign)).toEqual([404, "webhook_delivery_not_found"]);
  const own = { body: { clientId: other.clientId, eventTypes: ["person"] } };
  const stranger = await makeWorld();
  expect(refusalOf(await stranger.call("POST", "/webhook-listeners", own))).toEqual([404, "app_not_found"]);
});

test("more reports than attempts change nothing, and a number that no delivery can have is unknown", async () => {
  const { listener, tell, log, clientId } = await makeWorld();
  const { take, report, replay } = await listener();
  await tell(crypto.randomUUID());
  const [one] = await take();
  for (let n = 0; n < 6; n++) expect((await report(attemptOf(one!.deliveryId, 500))).status).toBe(204);
  const { delivery, log: attempts } = await log(one!.deliveryId);
  expect([delivery.state, attempts.length]).toEqual(["FAILED", 4]);
  await runJob("traffic.flush");
  const figures = await service.db.prisma.figure.findMany({ where: { subject: `app:${clientId}`, step: "DAY" } });
  expect(figures.map(({ metric, outcome, count }) => [metric, outcome, Number(count)])).toContainEqual([
    ...["deliveries", "failed", 4],
  ]);
  for (const id of ["9223372036854775807", "9999999999999999999"]) {
    expect(refusalOf(await report(attemptOf(id, 200)))).toEqual([404, "webhook_delivery_not_found"]);
    expect(refusalOf(await replay({ deliveryId: id }))).toEqual([404, "webhook_delivery_not_found"]);
  }
});

test("what waits already is not sent twice, however often it is asked for", async () => {
  const { listener, tell } = await makeWorld();
  const [one, other] = [await listener(), await listener()];
  await tell(crypto.randomUUID(), crypto.randomUUID());
  for (const { deliveryId } of await other.take()) await other.report(attemptOf(deliveryId, 200));
  expect((await one.replay({ last: 10 })).body).toEqual({ deliveries: 0 });
  const waiting = await one.take();
  await one.report(...waiting.map(({ deliveryId }) => attemptOf(deliveryId, 200)));
  expect((await one.replay({ last: 10 })).body).toEqual({ deliveries: 2 });
  expect((await one.replay({ last: 10 })).body).toEqual({ deliveries: 0 });
});

test("who loses the role while waiting gets nothing", async () => {
  const { listener, tell, clientId } = await makeWorld();
  const { path } = await listener();
  const partner = await makeStaff(service, "PARTNER", { clientIds: [clientId] });
  const wait = () => partner.call("POST", `${path}/taken-deliveries`, { body: { waitSeconds: 25 } });
  // Of two the first is answered when the second waits.
  const both = [wait(), wait()];
  await Promise.race(both);
  await service.db.prisma.staffRole.deleteMany({ where: { clientId: partner.app.clientId } });
  await tell(crypto.randomUUID());
  const answers = await Promise.all(both);
  expect(answers.map(refusalOf)).toContainEqual([403, "role_forbids"]);
});

test("a paused or disabled one gives nothing out", async () => {
  const { listener, tell, call } = await makeWorld();
  const { path, take, replay } = await listener();
  await tell(crypto.randomUUID());
  await call("PATCH", path, { body: { state: "PAUSED" } });
  expect(await take()).toEqual([]);
  await call("PATCH", path, { body: { state: "DISABLED" } });
  expect(refusalOf(await replay({ last: 1 }))).toEqual([409, "webhook_endpoint_disabled"]);
});
