// @module-tag slow
import { expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import { sweepBatch } from "../../src/platform/jobs/batches.ts";
import { testDatabase } from "../support/database.ts";
import { explainPrepared, listScanned, recordQueries, type Plan } from "../support/explain.ts";
import { makeMakers } from "../support/make.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { oldRows } from "./old-rows.ts";

/**
 * Rows that a job may read: those of a batch, in an index and by it, where it looks at the oldest whatever their age;
 * those of the catalogue; few where it finds by index that there is nothing.
 */
const mostRows: Record<string, number> = {
  "events.sweep": 2 * sweepBatch,
  "events.sweepAudit": 2 * sweepBatch,
  "imports.sweepOfPeople": 2 * sweepBatch,
  "webhooks.sweep": 2 * sweepBatch,
  "platform.analyze": 10_000,
};
const fewRows = 100;
const now = "2026-02-03T08:00:00Z";

const db = await testDatabase();
const clock = makeTestClock(now);
const service = await startService({ db, clock });
const never = new AbortController().signal;

/** Thousands of rows of each table that is swept, all of this moment, and as many imports that are applied. */
async function fill(): Promise<void> {
  await makeMakers(db).app({ clientId: "a" as ClientId });
  const inserts = Object.values(oldRows).map(({ insert }) =>
    insert.replace(/timestamptz '[^']+'/g, `timestamptz '${now}'`),
  );
  const imports = `INSERT INTO import (id, format, mode, state, file_name, created_at)
    SELECT gen_random_uuid(), 'PLAIN', 'BULK', 'APPLIED', 'roster.csv', timestamptz '2025-02-03' FROM generate_series(1, 6000)`;
  for (const insert of [...inserts, imports])
    await db.pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${insert}; COMMIT`);
  // Tokens are not all issued in the same second.
  await db.pool.query(
    "UPDATE oidc_artifact SET expires_at = expires_at + get_byte(id_hash, 0) * interval '5 minutes' WHERE kind = 'ClientCredentials'",
  );
  // The faults of imports stay, their lines do not.
  await db.pool.query("UPDATE import_error SET line_text = NULL");
  await db.pool.query("VACUUM ANALYZE");
}

async function explain({ text, values }: { text: string; values: unknown[] }): Promise<Plan> {
  const client = await db.pool.connect();
  try {
    await client.query("BEGIN");
    await client.query(`PREPARE explained AS ${text}`);
    return await explainPrepared(client, "explained", { values, options: "ANALYZE" });
  } finally {
    client.release(true);
  }
}

/** Rows that were read from tables and indexes, those too that were thrown away. */
function countRead({ Plans: parts = [], ...plan }: Plan): number {
  if (parts.length > 0) return parts.reduce((sum, part) => sum + countRead(part), 0);
  return ((plan["Actual Rows"] ?? 0) + (plan["Rows Removed by Filter"] ?? 0)) * (plan["Actual Loops"] ?? 1);
}

test("a job that has nothing to do reads a few rows, however many rows there are", async () => {
  await fill();
  // What a job finds out once, or swept once, is not what it costs from then on.
  for (const { run } of service.jobs) await run(never);
  clock.forwardSeconds(360);
  for (const { run } of service.jobs) await run(never);
  await db.pool.query("VACUUM ANALYZE");
  const { rows } = await db.pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND reltuples >= 5000",
  );
  const large = new Set(rows.map(({ name }) => name));
  expect(large.size).toBeGreaterThan(10);
  const faults: string[] = [];
  for (const { name, run } of service.jobs) {
    const sent = await recordQueries(/\b(FROM|UPDATE)\b/, () => run(never));
    for (const statement of sent) {
      const plan = await explain(statement);
      const rows = countRead(plan);
      const scanned = listScanned(plan).filter((table) => large.has(table));
      if (rows > (mostRows[name] ?? fewRows) || scanned.length > 0)
        faults.push(`${name}: ${rows} rows, all of ${scanned.join()}: ${statement.text}`);
    }
  }
  expect(faults).toEqual([]);
});
