import { expect, test } from "vitest";
import { analyzeOutdated } from "../../src/platform/database/statistics.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";

const grow = ({ pool }: Pick<TestDatabase, "pool">, rows: number) =>
  pool.query(
    "INSERT INTO audit (id, at, action, detail) SELECT gen_random_uuid(), now(), 'signed_in', '{}' FROM generate_series(1, $1::int)",
    [rows],
  );

test("a table that has doubled is looked at again, once; one that is only written to often is not", async () => {
  const db = await testDatabase({ poolSize: 1 });
  await db.pool.query("ALTER TABLE audit_first SET (autovacuum_enabled = false)");
  await db.pool.query("ANALYZE audit_first");
  await grow(db, 1500);
  await expect.poll(() => analyzeOutdated(db)).toEqual(["audit_first"]);
  const { rows } = await db.pool.query<{ known: number }>(
    "SELECT reltuples AS known FROM pg_class WHERE oid = 'audit_first'::regclass",
  );
  expect(rows).toEqual([{ known: 1500 }]);
  await grow(db, 1000);
  for (let n = 0; n < 3; n++) await db.pool.query("UPDATE audit SET request_id = 'again'");
  const seen = async () =>
    (
      await db.pool.query<{ count: string }>(
        "SELECT n_tup_upd AS count FROM pg_stat_user_tables WHERE relname = 'audit_first'",
      )
    ).rows[0]!.count;
  await expect.poll(seen).toBe("7500");
  expect(await analyzeOutdated(db)).toEqual([]);
});

test("a table that lost its statistics, as in an upgrade of PostgreSQL, is looked at again, once", async () => {
  const db = await testDatabase({ poolSize: 1 });
  await db.pool.query("ALTER TABLE audit_first SET (autovacuum_enabled = false)");
  await grow(db, 5000);
  await db.pool.query("ANALYZE");
  const upgrade = [
    "UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid = 'audit_first'::regclass",
    "DELETE FROM pg_statistic WHERE starelid = 'audit_first'::regclass",
    "SELECT pg_stat_reset()",
  ];
  for (const lost of [upgrade, upgrade.slice(1)]) {
    for (const statement of lost) await db.pool.query(statement);
    expect(await analyzeOutdated(db)).toEqual(["audit_first"]);
    const { rows } = await db.pool.query(
      `SELECT reltuples AS known, EXISTS (SELECT FROM pg_stats WHERE tablename = 'audit_first') AS columns
       FROM pg_class WHERE oid = 'audit_first'::regclass`,
    );
    expect(rows).toEqual([{ known: 5000, columns: true }]);
    expect(await analyzeOutdated(db)).toEqual([]);
  }
});
