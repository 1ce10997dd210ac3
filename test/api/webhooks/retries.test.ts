import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { makeUuid } from "../../../src/platform/crypto/ids.ts";
import { makeLog } from "../../../src/platform/telemetry/log.ts";
import { getDelivery, listDeliveries } from "../../../src/webhooks/index.ts";
import { getEndpoint, pauseEndpoint, removeEndpoint, resumeEndpoint } from "../../support/webhook-changes.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { walks, walkTimeoutMs } from "../../support/walks.ts";
import { startWebhooks } from "../../support/webhooks.ts";

let clientId: string;
const lines: string[] = [];

const log = makeLog({ level: "warn", format: "json", to: { write: (line: string) => void lines.push(line) } });
const disableAfterDays = 0.5;
const world = await startWebhooks({ log, settings: { disableAfterDays } });
const receiver = await startReceiver();
beforeEach(async () => {
  await world.db.pool.query("DELETE FROM webhook_endpoint");
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
/** The next time at which something may be sent, after now. */
async function findNext(): Promise<Date | null> {
  const { rows } = await world.db.pool.query<{ next: Date | null }>(
    `SELECT min(at) AS next FROM webhook_endpoint w
     LEFT JOIN webhook_delivery d ON d.endpoint_id = w.id AND d.state = 'PENDING',
     LATERAL unnest(ARRAY[due_at, resume_at, try_new_at]) AS at WHERE client_id = $1 AND at > $2`,
    [clientId, world.clock()],
  );
  return rows[0]!.next;
}
/**
 * Lets time pass in steps, or from one due time to the next, with the jobs run after each; answers the seconds at which
 * the receiver was called.
 */
async function watch(seconds: number, step?: number): Promise<number[]> {
  const began = world.clock().getTime();
  const end = began + seconds * 1000;
  const calls: number[] = [];
  let at: Date | null = world.clock();
  while (at !== null && at.getTime() <= end) {
    world.clock.set(at);
    const before = receiver.received.length;
    await world.settle();
    for (let call = before; call < receiver.received.length; call++) calls.push((at.getTime() - began) / 1000);
    at = step === undefined ? await findNext() : new Date(at.getTime() + step * 1000);
  }
  world.clock.set(new Date(end));
  return calls;
}

test("a failed delivery is tried again after 5 s, 5 min and 30 min, with the same webhook-id, then given up", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script(answer(500, {}, "out of order"));
  const [message] = await world.tell({ clientId });
  expect(await watch(2 * 3600)).toEqual([0, 5, 305, 2105]);
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
  ["a date", 8, 8],
  ["much too long", "86400", 10],
  ["nonsense", "soon", 5],
])("Retry-After (%s) lengthens the delay, up to twice itself", async (_name, header, expected) => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  const now = world.clock();
  const retryAfter = typeof header === "number" ? new Date(now.getTime() + header * 1000).toUTCString() : header;
  receiver.script(answer(429, { "retry-after": retryAfter }));
  await world.tell({ clientId });
  await world.settle();
  const [delivery] = await listDeliveries(world.db, { endpointId: id, limit: 1 });
  expect((delivery!.nextAttemptAt!.getTime() - now.getTime()) / 1000).toBe(expected);
  await removeEndpoint(world.db, id, origin());
});

test("a 410 is tried again like every other failure, and the endpoint stays active when a later try succeeds", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script((call, response, nth) => answer(nth < 4 ? 410 : 204)(call, response, nth));
  await world.tell({ clientId });
  expect(await watch(3600)).toEqual([0, 5, 305, 2105]);
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "ACTIVE", reason: null, failingSince: null });
  const [delivery] = await listDeliveries(world.db, { endpointId: id, limit: 1 });
  expect(delivery).toMatchObject({ state: "DELIVERED", attempts: 4 });
  expect(await auditOf(id)).toEqual(["webhook_endpoint_registered"]);
});

test("a last try that fails otherwise leaves the endpoint active, whatever the tries before answered", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script((call, response, nth) => answer(nth < 4 ? 410 : 500)(call, response, nth));
  await world.tell({ clientId });
  expect(await watch(3600)).toHaveLength(4);
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "ACTIVE", reason: null });
  expect(await listDeliveries(world.db, { endpointId: id, limit: 1 })).toMatchObject([
    { state: "FAILED", attempts: 4 },
  ]);
});

test("a 410 at the last try disables the endpoint: what waits is dropped, and audit line, log and state say so", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script(answer(410));
  await world.tell({ clientId }, { clientId }, { clientId });
  await watch(2104);
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "ACTIVE", reason: null });
  await watch(1);
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
  const probes = await watch(6 * 3600);
  expect(probes.length).toBeLessThan(25);
  expect(Math.max(...probes.slice(1).map((at, n) => at - probes[n]!))).toBeLessThanOrEqual(1830);

  receiver.script(answer(200));
  receiver.received.length = 0;
  await watch(2 * 3600);
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
  for (let day = 0.25; day <= disableAfterDays + 0.25; day += 0.25) {
    await world.tell(...Array.from({ length: 20 }, () => ({ clientId })));
    await watch(0.25 * 86_400);
    states.push((await getEndpoint(world.db, id)).state);
  }
  expect(states).toEqual(["PAUSED", "PAUSED", "DISABLED"]);
  expect(await getEndpoint(world.db, id)).toMatchObject({ state: "DISABLED", reason: "failing", pending: 0 });
  expect((await auditOf(id)).at(-1)).toBe("webhook_endpoint_disabled");
});

const subjectOf = (body: string) => {
  const { groupId, personId } = JSON.parse(body) as { groupId?: string; personId?: string };
  return groupId ?? personId!;
};
const triesOf = (subjectIds: readonly string[]) =>
  subjectIds.map((id) => receiver.received.filter(({ body }) => subjectOf(body) === id).length);
const makeIds = (count: number) => Array.from({ length: count }, () => makeUuid(world.clock()));
const refuse = (subjectIds: readonly string[]) =>
  receiver.script((call, response) => response.writeHead(subjectIds.includes(subjectOf(call.body)) ? 500 : 204).end());

test("60 refused subjects told before the others neither delay them nor disable it", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  const groups = makeIds(60);
  const people = makeIds(10);
  refuse(groups);
  const asked = groups.map((subjectId) => ({ clientId, type: "group" as const, subjectId }));
  const told = people.map((subjectId) => ({ clientId, subjectId }));
  await world.tell(...asked, ...told);
  await watch(60, 30);
  expect(triesOf(people)).toEqual(people.map(() => 1));
  for (let round = 0; round < 5; round++) {
    // Each refused group has further events, so that the receiver never runs out of what it refuses.
    await world.tell(...asked);
    await watch(10_000, 5000);
    const late = makeIds(1);
    await world.tell({ clientId, subjectId: late[0]! });
    await world.settle();
    if (triesOf(late)[0] === 0) await watch(1830, 30);
    expect(triesOf(late)).toEqual([1]);
    expect((await getEndpoint(world.db, id)).state).not.toBe("DISABLED");
  }
});

test(
  "whichever subjects a receiver refuses, the others arrive within a minute and those are tried 1 + 3 times",
  { tags: "model", timeout: walkTimeoutMs },
  async () => {
    const arbitrary = fc.record({
      rounds: fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 4 }),
      status: fc.constantFrom(400, 410, 429, 500, 503),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ rounds, status }) => {
        const own = await world.app();
        const { id } = await world.endpoint({ clientId: own, url: receiver.url });
        const refused = new Set<string>();
        receiver.received.length = 0;
        // A last 410 ends an endpoint, whatever else it accepts.
        const answers = (tries: number) => (tries < 4 || status !== 410 ? status : 500);
        receiver.script(({ body }, response) => {
          const subject = subjectOf(body);
          response.writeHead(refused.has(subject) ? answers(triesOf([subject])[0]!) : 204).end();
        });
        for (const round of rounds) {
          const subjects = round.map((isRefused) => ({ subjectId: makeIds(1)[0]!, isRefused }));
          for (const { subjectId, isRefused } of subjects) if (isRefused) refused.add(subjectId);
          await world.tell(...subjects.map(({ subjectId }) => ({ clientId: own, subjectId })));
          await watch(60, 30);
          const healthy = subjects.filter(({ isRefused }) => !isRefused).map(({ subjectId }) => subjectId);
          expect(triesOf(healthy)).toEqual(healthy.map(() => 1));
        }
        receiver.script((call, response) => response.writeHead(refused.has(subjectOf(call.body)) ? 500 : 204).end());
        for (let hour = 0; hour < 60 && (await getEndpoint(world.db, id)).pending > 0; hour++) {
          await world.tell({ clientId: own });
          await watch(3600, 1200);
        }
        expect(triesOf([...refused])).toEqual([...refused].map(() => 4));
      }),
      walks(4),
    );
  },
);

test("one that succeeds now and then is never paused", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  receiver.script((_call, response) => response.writeHead(receiver.received.length % 5 === 0 ? 200 : 500).end());
  await world.tell(...Array.from({ length: 60 }, () => ({ clientId })));
  await watch(3600, 300);
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
