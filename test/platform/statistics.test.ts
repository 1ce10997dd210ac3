import { expect, test } from "vitest";
import { analyzeGrown } from "../../src/platform/statistics.ts";
import { testDatabase } from "../support/database.ts";

test("a table that has doubled is looked at again, once; one that is only written to often is not", async () => {
  const db = await testDatabase({ poolSize: 1 });
  const grow = (rows: number) =>
    db.pool.query(
      "INSERT INTO audit (id, at, action, detail) SELECT gen_random_uuid(), now(), 'signed_in', '{}' FROM generate_series(1, $1::int)",
      [rows],
    );
  await db.pool.query("ALTER TABLE audit_first SET (autovacuum_enabled = false)");
  await db.pool.query("ANALYZE audit_first");
  await grow(1500);
  await expect.poll(() => analyzeGrown(db)).toEqual(["audit_first"]);
  const { rows } = await db.pool.query<{ known: number }>(
    "SELECT reltuples AS known FROM pg_class WHERE oid = 'audit_first'::regclass",
  );
  expect(rows).toEqual([{ known: 1500 }]);
  await grow(1000);
  for (let n = 0; n < 3; n++) await db.pool.query("UPDATE audit SET request_id = 'again'");
  const seen = async () =>
    (
      await db.pool.query<{ count: string }>(
        "SELECT n_tup_upd AS count FROM pg_stat_user_tables WHERE relname = 'audit_first'",
      )
    ).rows[0]!.count;
  await expect.poll(seen).toBe("7500");
  expect(await analyzeGrown(db)).toEqual([]);
});
