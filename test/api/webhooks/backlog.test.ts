// @module-tag slow
import { expect, test } from "vitest";
import type { Db } from "../../../src/platform/database/db.ts";
import { analyzeOutdated } from "../../../src/platform/database/statistics.ts";
import { disableEndpoint } from "../../support/webhook-changes.ts";
import { testDatabase } from "../../support/database.ts";
import { measureStatements, type Cost } from "../../support/explain.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startWebhooks, type WebhookWorld } from "../../support/webhooks.ts";

const waiting = 10_000;
const start = "2026-02-03T08:00:00Z";

/**
 * A statement may read some pages to find its way, and some for each row that it is about; no large table from end to
 * end.
 */
const listFaults = (costs: readonly Cost[], large = ["webhook_delivery"]): Cost[] =>
  costs.filter(
    ({ pages, things, scanned }) => pages > 400 + 60 * things || scanned.some((table) => large.includes(table)),
  );

type Endpoint = { clientId: string; id: string };
type Fill = { endpoint: Endpoint; subjects: number; dueIn?: string; isDone?: boolean };

/** Deliveries as the fan-out leaves them, of each subject the first due; or as the log keeps them. */
async function fill(db: Db, { endpoint, subjects, dueIn = "0", isDone = false }: Fill): Promise<void> {
  const rest = isDone
    ? "'DELIVERED', 1, NULL::timestamptz, $4::timestamptz"
    : "'PENDING', 0, CASE WHEN n < $2 THEN $4::timestamptz + $5::interval END, NULL";
  await db.pool.query(
    `INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, body, created_at, state, attempts, due_at, finished_at)
     SELECT gen_random_uuid(), $1::text::uuid, 'person', subject, '{"event":"person","action":"update","updatedProperties":["name"],"personId":"' || subject || '"}', $4, ${rest}
     FROM generate_series(0, $3::int - 1) n, LATERAL (SELECT md5($1::text || n % $2::int)::uuid AS subject WHERE $5::text <> '') _ ORDER BY n`,
    [endpoint.id, subjects, waiting, start, dueIn],
  );
}

async function startWorld() {
  const db = await testDatabase({ poolSize: 2 });
  await db.pool.query("ALTER TABLE webhook_delivery SET (autovacuum_enabled = false)");
  const measured = measureStatements(db);
  const world = await startWebhooks({ db: { ...db, ...measured.db }, settings: { logDays: 1 } });
  const receiver = await startReceiver();
  const endpoint = async (): Promise<Endpoint> => {
    const clientId = await world.app();
    return { clientId, ...(await world.endpoint({ clientId, url: receiver.url })) };
  };
  const endpoints = {
    few: await endpoint(),
    many: await endpoint(),
    later: await endpoint(),
    paused: await endpoint(),
    disabled: await endpoint(),
    healthy: await endpoint(),
  };
  /** Delivers until the receiver has got so many more, then stops as a process does that is asked to. */
  const deliver = async (count: number): Promise<void> => {
    const stop = new AbortController();
    const until = receiver.received.length + count;
    receiver.script((_call, response) => {
      if (receiver.received.length >= until) stop.abort();
      response.writeHead(204).end();
    });
    await world.run("deliver", stop.signal);
  };
  /** Runs a job until it has made this statement. */
  const runUntil = async (job: "drop" | "sweep", statement: string): Promise<void> => {
    const stop = new AbortController();
    const running = world.run(job, stop.signal);
    await expect.poll(() => measured.costs.some(({ name }) => name === statement)).toBe(true);
    stop.abort();
    await running;
  };
  return { db, world, costs: measured.costs, endpoints, deliver, runUntil };
}

/** Everything that jobs do, with little to do and so often that PostgreSQL keeps the plans it makes for that. */
async function warmUp({ tell, run, settle }: WebhookWorld, { clientId }: Endpoint): Promise<void> {
  for (let n = 0; n < 8; n++) {
    await tell({ clientId }, { clientId });
    await settle();
    await run("sweep");
    await run("drop");
  }
}

test.each(["in a table that was empty a moment ago", "in the log of many days"])(
  "no statement reads more where much waits, %s",
  async (where) => {
    const { db, world, costs, endpoints, deliver, runUntil } = await startWorld();
    const { few, many, later, paused, disabled, healthy } = endpoints;
    const isLong = where.includes("log");
    if (isLong)
      for (const endpoint of Object.values(endpoints)) await fill(db, { endpoint, subjects: waiting, isDone: true });
    await db.pool.query(
      "INSERT INTO webhook_attempt (delivery_id, number, at, duration_ms, status) SELECT id, 1, created_at, 5, 204 FROM webhook_delivery",
    );
    await db.pool.query("VACUUM ANALYZE webhook_delivery, webhook_attempt");
    await warmUp(world, healthy);
    await fill(db, { endpoint: few, subjects: 10 });
    await fill(db, { endpoint: many, subjects: waiting });
    await fill(db, { endpoint: later, subjects: waiting / 2, dueIn: "1 hour" });
    await fill(db, { endpoint: paused, subjects: waiting });
    await fill(db, { endpoint: disabled, subjects: 10 });
    await db.pool.query("UPDATE webhook_endpoint SET state = 'PAUSED', reason = 'asked_for' WHERE id = $1", [
      paused.id,
    ]);
    if (!isLong) await expect.poll(() => analyzeOutdated(db)).toContain("webhook_delivery");

    costs.splice(0);
    await disableEndpoint(world.db, disabled.id, { at: world.clock(), actorId: "test" });
    const { rows: subjects } = await db.pool.query<{ subjectId: string }>(
      `SELECT subject_id AS "subjectId" FROM webhook_delivery WHERE endpoint_id = $1 AND due_at IS NOT NULL`,
      [few.id],
    );
    for (let n = 0; n < 3; n++) {
      await world.tell(
        ...[few, many, later, healthy].flatMap(({ clientId }) => Array.from({ length: 50 }, () => ({ clientId }))),
        ...subjects.map((subject) => ({ ...few, ...subject })),
      );
      await world.run("fanOut");
    }
    await deliver(600);
    await runUntil("drop", "webhooks.dropWaiting");
    world.clock.forwardSeconds(2 * 86_400);
    await runUntil("sweep", "webhooks.sweep");

    const jobs = ["fanOut", "lease", "findDue", "record", "release", "dropWaiting", "findDisabled", "sweep"].map(
      (name) => `webhooks.${name}`,
    );
    expect([...new Set(costs.map(({ name }) => name))]).toEqual(
      expect.arrayContaining(["events.isAnyWaiting", "events.place", ...jobs]),
    );
    expect(listFaults(costs, isLong ? ["webhook_delivery", "webhook_attempt"] : ["webhook_delivery"])).toEqual([]);
  },
);
