// @module-tag slow
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import { silentLog } from "../../src/platform/telemetry/log.ts";
import { makeMetrics } from "../../src/platform/telemetry/metrics.ts";
import { applyMigrations } from "../../src/platform/migrations/migrate.ts";
import { startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { startWorker } from "../../src/platform/jobs/worker.ts";
import { makeWebhooks } from "../../src/webhooks/index.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { insertEvents } from "../support/app-events.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { startProgram } from "../support/program.ts";
import { answer, startReceiver, type Receiver } from "../support/receiver.ts";
import { countAround } from "../support/waiting.ts";
import { inside, keys, settings } from "../support/webhooks.ts";

const kills = 20;

function startWebhookWorker(db: Pick<TestDatabase, "pool" | "prisma">) {
  const webhooks = makeWebhooks({
    db,
    clock: systemClock,
    log: silentLog,
    keys,
    policy: inside,
    settings: { ...settings, retrySeconds: [1, 1, 1] },
    leaseSeconds: 1,
  });
  const worker = startWorker(webhooks.jobs, { log: silentLog, metrics: makeMetrics() });
  return async () => {
    await worker.stop(60);
    await webhooks.close();
  };
}

const firstArrivals = ({ received }: Receiver): string[] => [
  ...new Set(received.map(({ headers }) => String(headers["webhook-id"]))),
];

test(`kill -9 ${kills} times in the middle of changes and deliveries: no event is lost, what comes twice has the same webhook-id, order holds`, async () => {
  const db = await testDatabase();
  const receiver = await startReceiver((_call, response) => setTimeout(() => response.writeHead(204).end(), 3));
  const make = makeMakers(db);
  const [{ clientId }, school] = [await make.app(), await make.school()];
  const group = await make.group({ school });
  const people = await Promise.all(Array.from({ length: 10 }, () => make.person({ school, groups: [group] })));
  await make.grant({ app: clientId, school, groups: [group] });
  await registerEndpoint(
    db,
    { clientId, url: receiver.url, eventTypes: ["person"] },
    { origin: { at: new Date() }, keys, policy: inside },
  );
  await db.pool.query("UPDATE webhook_fan_out SET position = 0");

  let confirmed = 0;
  for (let round = 1; round <= kills; round++) {
    const before = receiver.received.length;
    const subject = startProgram(["test/faults/webhook-subject.ts"], {
      SUBJECT: JSON.stringify({ url: db.url, people, round }),
    });
    await expect.poll(() => receiver.received.length, { interval: 1 }).toBeGreaterThan(before + 3 + 2 * round);
    subject.child.kill("SIGKILL");
    await subject.ended;
    confirmed += [...subject.output().matchAll(/^changed /gm)].length;
  }

  // A commit that was under way at the last kill may still be made.
  await expect.poll(() => countAround(db)).toBe(0);
  const { rows: events } = await db.pool.query<{ id: string; subject_id: string }>(
    "SELECT id, subject_id FROM app_event WHERE type = 'person' ORDER BY seq",
  );
  const stop = startWebhookWorker(db);
  await expect.poll(() => firstArrivals(receiver).length, { interval: 50 }).toBe(events.length);
  await stop();

  const arrived = firstArrivals(receiver);
  expect(arrived.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  expect(confirmed).toBeGreaterThan(kills);
  expect(events.length).toBeGreaterThanOrEqual(confirmed);
  const bodies = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.received)
    bodies.set(String(headers["webhook-id"]), (bodies.get(String(headers["webhook-id"])) ?? new Set()).add(body));
  expect([...bodies.values()].every(({ size }) => size === 1)).toBe(true);
  for (const person of people) {
    const own = events.filter(({ subject_id }) => subject_id === person).map(({ id }) => id);
    expect(arrived.filter((id) => own.includes(id))).toEqual(own);
  }
});

test("PostgreSQL is stopped for 10 s in the middle of deliveries and comes back: every event arrives", async () => {
  const dataDir = makeDataDir();
  atFileEnd(() => removeDataDir(dataDir));
  const say = () => undefined;
  let server = await startEmbeddedPostgres({ dataDir, say });
  await applyMigrations(server.url, { say });
  const db = openDatabase({ url: server.url });
  // What comes after the first 40 is answered when the server is gone.
  const { promise: isGone, resolve: gone } = Promise.withResolvers<null>();
  const receiver = await startReceiver(async (_call, response, nth) => {
    if (nth > 40) await isGone;
    response.writeHead(204).end();
  });
  const { clientId } = await makeMakers(db).app();
  await registerEndpoint(
    db,
    { clientId, url: receiver.url, eventTypes: ["person"] },
    { origin: { at: new Date() }, keys, policy: inside },
  );
  const told = await insertEvents(
    db,
    new Date(),
    Array.from({ length: 400 }, () => ({ clientId })),
  );
  const stop = startWebhookWorker(db);
  await expect.poll(() => receiver.received.length, { interval: 5 }).toBeGreaterThan(40);

  await server.stop();
  gone(null);
  await sleep(10_000);
  const without = firstArrivals(receiver).length;
  expect(without).toBeLessThan(told.length);
  server = await startEmbeddedPostgres({ dataDir, say });
  await expect.poll(() => firstArrivals(receiver).length, { interval: 50 }).toBe(told.length);
  const pending = async () => (await db.pool.query("SELECT FROM webhook_delivery WHERE state = 'PENDING'")).rowCount;
  await expect.poll(pending, { interval: 50 }).toBe(0);
  expect(firstArrivals(receiver).toSorted()).toEqual(told.toSorted());

  const [later] = await insertEvents(db, new Date(), [{ clientId }]);
  await db.pool.query("NOTIFY app_event");
  await expect.poll(() => firstArrivals(receiver).includes(later!)).toBe(true);
  await stop();
  await db.close();
  await server.stop();
});

test("a clean stop finishes what is under way and gives the leases back", async () => {
  const db = await testDatabase();
  const receiver = await startReceiver((_call, response) => setTimeout(() => response.writeHead(204).end(), 300));
  const { clientId } = await makeMakers(db).app();
  await registerEndpoint(
    db,
    { clientId, url: receiver.url, eventTypes: ["person"] },
    { origin: { at: new Date() }, keys, policy: inside },
  );
  await insertEvents(
    db,
    new Date(),
    Array.from({ length: 50 }, () => ({ clientId })),
  );
  const stop = startWebhookWorker(db);
  await expect.poll(() => receiver.received.length, { interval: 5 }).toBeGreaterThan(4);
  await stop();
  const { rows } = await db.pool.query<{ leased: boolean }>(
    "SELECT leased_by IS NOT NULL AS leased FROM webhook_endpoint",
  );
  expect(rows).toEqual([{ leased: false }]);
  const delivered = await db.pool.query("SELECT FROM webhook_delivery WHERE state = 'DELIVERED'");
  expect(delivered.rowCount).toBe(receiver.received.length);
  receiver.script(answer(204));
  const again = startWebhookWorker(db);
  await expect.poll(() => firstArrivals(receiver).length, { interval: 20 }).toBe(50);
  await again();
  expect(receiver.received.length).toBe(50);
});
