import { beforeEach, expect, test } from "vitest";
import { makeLog } from "../../../src/platform/telemetry/log.ts";
import { getDelivery, listDeliveries } from "../../../src/webhooks/index.ts";
import { getEndpoint, pauseEndpoint, resumeEndpoint } from "../../support/webhook-changes.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { startWebhooks } from "../../support/webhooks.ts";

let clientId: string;
const lines: string[] = [];

const log = makeLog({ level: "warn", format: "json", to: { write: (line: string) => void lines.push(line) } });
const world = await startWebhooks({ log });
const receiver = await startReceiver();
beforeEach(async () => {
  clientId = await world.app();
  receiver.received.length = 0;
  receiver.script(answer(204));
});

const origin = () => ({ at: world.clock(), actorId: "test" });
const auditOf = async (endpointId: string): Promise<string[]> => {
  const { rows } = await world.db.pool.query<{ action: string }>(
    "SELECT action FROM audit WHERE detail->>'endpointId' = $1 ORDER BY at, id",
    [endpointId],
  );
  return rows.map(({ action }) => action);
};
/** Lets time pass in steps, with the jobs run after each; answers the seconds at which the receiver was called. */
async function watch(seconds: number, step: number): Promise<number[]> {
  const calls: number[] = [];
  for (let passed = 0; passed <= seconds; passed += step) {
    const before = receiver.received.length;
    await world.settle();
    for (let call = before; call < receiver.received.length; call++) calls.push(passed);
    world.clock.forwardSeconds(step);
  }
  return calls;
}

test("a failed delivery is tried again after 5 s, 5 min and 30 min, with the same webhook-id, then given up", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script(answer(500, {}, "out of order"));
  const [message] = await world.tell({ clientId });
  expect(await watch(2 * 3600, 5)).toEqual([0, 5, 305, 2105]);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([message]));
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-signature"])).size).toBe(4);
  const [delivery] = await listDeliveries(world.db, { endpointId: id, limit: 10 });
  expect(delivery).toMatchObject({ state: "FAILED", attempts: 4, messageId: message });
  const { log } = await getDelivery(world.db, delivery!.id);
  expect(log.map(({ number, status, error, answer }) => [number, status, error, answer])).toEqual(
    [1, 2, 3, 4].map((n) => [n, 500, null, "out of order"]),
  );
});

test.each([
  ["200", "10", 10],
  ["a little", "2", 5],
  ["a date", new Date("2026-02-03T08:00:08Z").toUTCString(), 8],
  ["much too long", "86400", 10],
  ["nonsense", "soon", 5],
])("Retry-After (%s) lengthens the delay, up to twice itself", async (_name, header, expected) => {
  const own = await startWebhooks();
  const app = await own.app();
  const { id } = await own.endpoint({ clientId: app, url: receiver.url });
  receiver.script(answer(429, { "retry-after": header }));
  await own.tell({ clientId: app });
  await own.settle();
  const [delivery] = await listDeliveries(own.db, { endpointId: id, limit: 1 });
  expect((delivery!.nextAttemptAt!.getTime() - own.clock().getTime()) / 1000).toBe(expected);
});

test("a 410 is tried again like every other failure, and the endpoint stays active when a later try succeeds", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script((call, response, nth) => answer(nth < 4 ? 410 : 204)(call, response, nth));
  await world.tell({ clientId });
  expect(await watch(3600, 5)).toEqual([0, 5, 305, 2105]);
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "ACTIVE", reason: null, failingSince: null });
  const [delivery] = await listDeliveries(world.db, { endpointId: id, limit: 1 });
  expect(delivery).toMatchObject({ state: "DELIVERED", attempts: 4 });
  expect(await auditOf(id)).toEqual(["webhook_endpoint_registered"]);
});

test("a last try that fails otherwise leaves the endpoint active, whatever the tries before answered", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script((call, response, nth) => answer(nth < 4 ? 410 : 500)(call, response, nth));
  await world.tell({ clientId });
  expect(await watch(3600, 5)).toHaveLength(4);
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "ACTIVE", reason: null });
  expect(await listDeliveries(world.db, { endpointId: id, limit: 1 })).toMatchObject([
    { state: "FAILED", attempts: 4 },
  ]);
});

test("a 410 at the last try disables the endpoint: what waits is dropped, and audit line, log and state say so", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script(answer(410));
  await world.tell({ clientId }, { clientId }, { clientId });
  await watch(2100, 5);
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "ACTIVE", reason: null });
  await world.settle();
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "DISABLED", reason: "gone", pending: 0 });
  expect((await listDeliveries(world.db, { endpointId: id, limit: 9 })).every(({ state }) => state === "FAILED")).toBe(
    true,
  );
  expect((await auditOf(id)).sort()).toEqual(["webhook_endpoint_disabled", "webhook_endpoint_registered"]);
  expect(lines.some((line) => line.includes(id) && line.includes("disabled"))).toBe(true);
  const before = receiver.received.length;
  await world.tell({ clientId });
  await world.settle();
  expect([receiver.received.length, (await listDeliveries(world.db, { endpointId: id, limit: 9 })).length]).toEqual([
    before,
    3,
  ]);
});

test("an endpoint that fails again and again is paused: its events wait, one is tried from time to time; when it is back everything arrives", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script(answer(503));
  const told = await world.tell(...Array.from({ length: 100 }, () => ({ clientId })));
  await world.settle();
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "PAUSED", reason: "failing" });
  const untilPause = receiver.received.length;
  expect(untilPause).toBeLessThan(30);
  const probes = await watch(6 * 3600, 30);
  expect(probes.length).toBeLessThan(25);
  expect(Math.max(...probes.slice(1).map((at, n) => at - probes[n]!))).toBeLessThanOrEqual(1830);

  receiver.script(answer(200));
  receiver.received.length = 0;
  await watch(2 * 3600, 30);
  expect(await getEndpoint(world.db, id)).toMatchObject({
    state: "ACTIVE",
    reason: null,
    failingSince: null,
    pending: 0,
  });
  expect(receiver.received.length).toBeGreaterThan(60);
  const all = await listDeliveries(world.db, { endpointId: id, limit: 200 });
  expect(all.length).toBe(told.length);
  expect(all.filter(({ state }) => state === "DELIVERED").length).toBe(receiver.received.length);
  expect((await auditOf(id)).sort()).toEqual([
    "webhook_endpoint_paused",
    "webhook_endpoint_registered",
    "webhook_endpoint_resumed",
  ]);
});

test("after days of nothing but failures it is disabled", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script(answer(500));
  const states: string[] = [];
  for (let day = 1; day <= 6; day++) {
    await world.tell(...Array.from({ length: 10 }, () => ({ clientId })));
    await watch(86_400, 1800);
    states.push((await getEndpoint(world.db, id)).state);
  }
  expect(states.slice(0, 4)).toEqual(["PAUSED", "PAUSED", "PAUSED", "PAUSED"]);
  expect(states.at(-1)).toBe("DISABLED");
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "DISABLED", reason: "failing", pending: 0 });
  expect((await auditOf(id)).at(-1)).toBe("webhook_endpoint_disabled");
});

test("one that succeeds now and then is never paused", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script((_call, response) => response.writeHead(receiver.received.length % 5 === 0 ? 200 : 500).end());
  await world.tell(...Array.from({ length: 60 }, () => ({ clientId })));
  await watch(3600, 60);
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "ACTIVE", reason: null });
});

test("events for a paused endpoint wait until it is resumed; those for a disabled one are dropped", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  await pauseEndpoint(world.db, id, origin());
  await world.tell({ clientId }, { clientId });
  await world.settle();
  expect([receiver.received.length, (await getEndpoint(world.db, id)).pending]).toEqual([0, 2]);
  await resumeEndpoint(world.db, id, origin());
  await world.settle();
  expect(receiver.received.length).toBe(2);
  await expect(resumeEndpoint(world.db, id, origin())).rejects.toMatchObject({ code: "webhook_endpoint_active" });
});

test("a secret that no key opens is the trouble of its endpoint alone", async () => {
  const { id } = await world.endpoint({ clientId, url: `${receiver.url}/locked` });
  await world.endpoint({ clientId, url: `${receiver.url}/open` });
  await world.db.pool.query(
    "UPDATE webhook_secret SET sealed = decode(repeat('00', 60), 'hex') WHERE endpoint_id = $1",
    [id],
  );
  await world.tell({ clientId });
  await world.settle();
  expect(receiver.received.map(({ path }) => path)).toEqual(["/open"]);
  const [delivery] = await listDeliveries(world.db, { endpointId: id, limit: 1 });
  expect((await getDelivery(world.db, delivery!.id)).log).toMatchObject([
    { status: null, error: "the endpoint has no valid secret" },
  ]);
});
