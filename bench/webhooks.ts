/**
 * How much of a bare loop of signed requests the webhooks keep, with outbox, fan-out, leases, log and acknowledgement;
 * how long a change takes to arrive; and what a hanging receiver costs the others. All of one run, in turns.
 */
import { createHmac, createSecretKey } from "node:crypto";
import { Agent, request } from "undici";
import type { Db, PrismaDb } from "../src/platform/database/db.ts";
import { makeUuid } from "../src/platform/crypto/ids.ts";
import { readConfig } from "../src/config/index.ts";
import { registerEndpoint } from "../test/support/webhook-changes.ts";
import { makeMakers } from "../test/support/make.ts";
import { insertEvents, makeInsert } from "../test/support/app-events.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, report, reportHead, startSubject, type Rate, type Subject } from "./harness.ts";

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);
const endpoints = 200;
const pacedPerSecond = 400;
const [pacedRounds, pacedSeconds] = [12, 2.5];
const eventsEach = Number(process.env["BENCH_EVENTS"] ?? 100);
const { encryptionKeys: keys } = readConfig({ NODE_ENV: "development" });

let arrivedAt = new Map<string, number>();
const database = await openBenchDatabase();
const subjects: Subject[] = [];
try {
  const receiver = await startSubject("receiver", "./subjects/receiver.ts", {});
  subjects.push(receiver);
  const clients = await makeEndpoints(database.db, endpoints, (n) => `${receiver.url}/hook/${n}`);
  await database.db.pool.query("VACUUM ANALYZE");
  const worker = await startSubject("webhooks", "./subjects/webhooks.ts", {
    DATABASE_URL: database.url,
    LOG_LEVEL: "warn",
  });
  subjects.push(worker);

  console.log(reportHead);
  const ours = () => measureDeliveries(database.db, receiver.url, clients);
  const sides = {
    ours,
    base: () => measureBare(receiver.url),
    rounds,
    db: database.db,
    // The bare loop runs in this process.
    subjects: {
      ours: worker,
      base: { cpuMs: () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000 },
    },
  };
  const title = `Deliveries from event to acknowledgement, ${endpoints} endpoints, one process`;
  console.log(report(await compare(title, 0.5, sides)));

  console.log(
    `\nCommit to receiver, idle system: ${describe(await measureIdle(database.db, receiver.url, clients))} (p99 at most 250 ms)`,
  );

  const few = clients.slice(0, 19);
  const alone: number[][] = [];
  const beside: number[][] = [];
  const [hanging] = await makeEndpoints(database.db, 1, () => `${receiver.url}/hang`);
  for (let round = 0; round < pacedRounds; round++) {
    alone.push(await measurePaced(database.db, receiver.url, few));
    beside.push(await measurePaced(database.db, receiver.url, few, hanging));
  }
  const ratios = alone.map((times, n) => at(beside[n]!, 0.99) / at(times, 0.99));
  console.log(`19 endpoints, ${pacedPerSecond} events a second: ${describe(alone.flat())}`);
  console.log(`the same beside one that hangs: ${describe(beside.flat())}`);
  console.log(
    `p99 beside it against alone, min / median / max of ${pacedRounds} rounds: ${[0, 0.5, 1].map((share) => at(ratios, share).toFixed(2)).join(" / ")} (at most 2)`,
  );
} finally {
  for (const subject of subjects.reverse()) await subject.stop();
  await database.close();
}

async function makeEndpoints(db: PrismaDb, count: number, urlOf: (n: number) => string): Promise<string[]> {
  const make = makeMakers(db);
  const clients: string[] = [];
  for (let n = 0; n < count; n++) {
    const { clientId } = await make.app();
    await registerEndpoint(
      db,
      { clientId, url: urlOf(n), eventTypes: ["person"] },
      { origin: { at: new Date() }, keys, policy: { allowPrivateAddresses: true } },
    );
    clients.push(clientId);
  }
  return clients;
}

/** From the first statement of the change to the last acknowledgement in the table. */
async function measureDeliveries(db: Db, url: string, clientIds: string[]): Promise<Rate> {
  await request(`${url}/reset`).then(({ body }) => body.dump());
  const insert = makeInsert(
    new Date(),
    clientIds.flatMap((clientId) => Array.from({ length: eventsEach }, () => ({ clientId }))),
  );
  const began = performance.now();
  const ids = await insert(db);
  const committed = Date.now();
  await db.pool.query("NOTIFY app_event");
  await waitUntil(async () => (await countArrived(url)) === ids.length);
  await waitUntil(async () => (await countDue(db)) === 0);
  const seconds = (performance.now() - began) / 1000;
  const arrived = await readTimes(url);
  return {
    count: ids.length,
    perSecond: ids.length / seconds,
    p50Ms: Number.NaN,
    p99Ms: at(
      [...arrived.values()].map((time) => time - committed),
      0.99,
    ),
    failed: ids.filter((id) => !arrived.has(id)).length,
  };
}

/** The same requests from a loop that does nothing else, as many at once as the service has. */
async function measureBare(url: string): Promise<Rate> {
  const agent = new Agent({ allowH2: false });
  const secret = "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=";
  const key = createSecretKey(secret.slice(6), "base64");
  const durations: number[] = [];
  let left = endpoints * eventsEach;
  const began = performance.now();
  const postAll = async (n: number): Promise<void> => {
    while (left-- > 0) {
      const started = performance.now();
      const id = makeUuid(new Date());
      const body = `{"event":"person","action":"update","updatedProperties":["name"],"personId":"${id}"}`;
      const timestamp = String(Math.floor(Date.now() / 1000));
      const headers = {
        "Content-Type": "application/json",
        "X-EP-Event-Type": "person",
        "X-EP-Signature-Sha256": createHmac("sha256", secret).update(body).digest("hex"),
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
      };
      const answer = await request(`${url}/hook/${n}`, { dispatcher: agent, method: "POST", headers, body });
      await answer.body.dump();
      durations.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: endpoints }, (_, n) => postAll(n)));
  const seconds = (performance.now() - began) / 1000;
  await agent.close();
  return {
    count: durations.length,
    perSecond: durations.length / seconds,
    p50Ms: at(durations, 0.5),
    p99Ms: at(durations, 0.99),
    failed: endpoints * eventsEach - durations.length,
  };
}

async function measureIdle(db: Db, url: string, clientIds: string[]): Promise<number[]> {
  const times: number[] = [];
  await request(`${url}/reset`).then(({ body }) => body.dump());
  for (let n = 0; n < 200; n++) {
    times.push(...(await send(db, url, [clientIds[n % clientIds.length]!])));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
  }
  return times;
}

/** Events at an even pace, each with the milliseconds from its commit to its arrival. */
async function measurePaced(db: Db, url: string, clientIds: string[], hanging?: string): Promise<number[]> {
  const committed = new Map<string, number>();
  await request(`${url}/reset`).then(({ body }) => body.dump());
  for (let tick = 0; tick < 20 * pacedSeconds; tick++) {
    const next = new Promise((resolve) => setTimeout(resolve, 50));
    const chosen = Array.from({ length: pacedPerSecond / 20 }, (_, n) => clientIds[(tick + n) % clientIds.length]!);
    const ids = await insertEvents(db, new Date(), [
      ...chosen.map((clientId) => ({ clientId })),
      ...(hanging === undefined ? [] : [{ clientId: hanging }]),
    ]);
    await db.pool.query("NOTIFY app_event");
    for (const id of ids.slice(0, chosen.length)) committed.set(id, Date.now());
    await next;
  }
  await waitUntil(
    async () => [...committed.keys()].every((id) => arrivedAt.has(id)) || ((arrivedAt = await readTimes(url)), false),
  );
  const times = [...committed].map(([id, time]) => arrivedAt.get(id)! - time);
  arrivedAt = new Map();
  return times;
}

async function send(db: Db, url: string, clientIds: string[]): Promise<number[]> {
  const ids = await insertEvents(
    db,
    new Date(),
    clientIds.map((clientId) => ({ clientId })),
  );
  await db.pool.query("NOTIFY app_event");
  const committed = Date.now();
  let times = new Map<string, number>();
  // Asking costs the receiver time, which would count.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await waitUntil(async () => ids.every((id) => times.has(id)) || ((times = await readTimes(url)), false));
  return ids.map((id) => times.get(id)! - committed);
}

async function readTimes(url: string): Promise<Map<string, number>> {
  const { body } = await request(`${url}/times`);
  return new Map((await body.json()) as [string, number][]);
}

async function countArrived(url: string): Promise<number> {
  const { body } = await request(`${url}/count`);
  return ((await body.json()) as { unique: number }).unique;
}

async function countDue(db: Db): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM webhook_delivery WHERE due_at > '-infinity'",
  );
  return rows[0]!.count;
}

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 120_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error("it takes too long");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function at(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function describe(times: number[]): string {
  return `p50 ${at(times, 0.5).toFixed(0)} ms, p99 ${at(times, 0.99).toFixed(0)} ms over ${times.length}`;
}
