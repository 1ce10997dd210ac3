// @module-tag every-postgresql
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { analyzeFilled, analyzeOutdated } from "../../src/platform/database/statistics.ts";
import { withTransaction } from "../../src/platform/database/db.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { asOthers } from "../support/one-connection.ts";
import { setKnownRows } from "../support/statistics.ts";

const grow = ({ pool }: Pick<TestDatabase, "pool">, rows: number) =>
  pool.query(
    "INSERT INTO audit (id, at, action, detail) SELECT gen_random_uuid(), now(), 'signed_in', '{}' FROM generate_series(1, $1::int)",
    [rows],
  );

/** What a connection did is counted when it is told to, at its next statement. */
async function flushCounts({ pool }: Pick<TestDatabase, "pool">): Promise<void> {
  await pool.query("SELECT pg_stat_force_next_flush()");
  await pool.query("SELECT");
}

test("a table that has doubled is looked at again, once; one that is only written to often is not", async () => {
  const db = await testDatabase({ poolSize: 1 });
  await db.pool.query("ALTER TABLE audit_first SET (autovacuum_enabled = false)");
  await db.pool.query("ANALYZE audit_first");
  await grow(db, 1500);
  await flushCounts(db);
  expect(await analyzeOutdated(db)).toEqual(["audit_first"]);
  const { rows } = await db.pool.query<{ known: number }>(
    "SELECT reltuples AS known FROM pg_class WHERE oid = 'audit_first'::regclass",
  );
  expect(rows).toEqual([{ known: 1500 }]);
  await grow(db, 1000);
  for (let n = 0; n < 3; n++) await db.pool.query("UPDATE audit SET request_id = 'again'");
  await flushCounts(db);
  const counted = "SELECT n_tup_upd::int AS count FROM pg_stat_user_tables WHERE relname = 'audit_first'";
  expect((await db.pool.query(counted)).rows).toEqual([{ count: 7500 }]);
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

const rows = 2000;
const fill = `INSERT INTO rate_limit (key, full_at) SELECT sha256(n::text::bytea), now() FROM generate_series(1, ${rows}) n`;
const findKnown = async ({ pool }: Pick<TestDatabase, "pool">) =>
  (await pool.query<{ known: number }>("SELECT reltuples AS known FROM pg_class WHERE oid = 'rate_limit'::regclass"))
    .rows[0]!.known;
const analyze = "ANALYZE (SKIP_LOCKED) rate_limit";

test("rows of a transaction that is not over are not taken for an empty table, and are counted when it is", async () => {
  const db = await testDatabase();
  const client = await db.pool.connect();
  await client.query(`BEGIN; ${fill}`);
  expect(await asOthers(() => analyzeOutdated(db))).toEqual([]);
  expect(await findKnown(db)).toBe(-1);
  await client.query("COMMIT");
  client.release();
  expect(await analyzeOutdated(db)).toEqual(["rate_limit"]);
  expect(await findKnown(db)).toBe(rows);
});

test.each(["never", 0, 3] as const)(
  "a transaction counts its own rows, of %s known ones, and nobody counts again before its end",
  async (before) => {
    const db = await testDatabase();
    await withTransaction(db, async (tx) => {
      await tx.query(fill);
      await asOthers(() => setKnownRows(db, ["rate_limit"], before));
      await analyzeFilled(tx);
      await asOthers(() => db.pool.query(analyze));
      expect(await asOthers(() => findKnown(db))).toBe(rows);
      await tx.query(fill.replace("n::text", "(-n)::text"));
      await analyzeFilled(tx);
    });
    // Counted once: PostgreSQL goes by the size of the file.
    expect(await findKnown(db)).toBe(rows);
  },
);

test("it waits for an ANALYZE that is running, but for no transaction that has counted", async () => {
  const db = await testDatabase();
  const [one, other] = [await db.pool.connect(), await db.pool.connect()];
  await one.query(`BEGIN; ${fill}`);
  await other.query(`BEGIN; ${analyze}`);
  const waiting = analyzeFilled(one);
  await other.query("COMMIT");
  await waiting;
  expect(await findKnown(db)).toBe(rows);
  await other.query(`BEGIN; ${fill.replace("n::text", "(-n)::text")}`);
  await analyzeFilled(other);
  expect(await findKnown(db)).toBe(rows);
  for (const client of [one, other]) {
    await client.query("ROLLBACK");
    client.release();
  }
});

test("code that writes people and groups of a whole school runs analyzeFilled", () => {
  const writers = globSync("src/**/*.ts").filter((path) =>
    /\binsert\(\s*"(person|affiliation|group|membership)"/.test(readFileSync(path, "utf8")),
  );
  expect(writers.length).toBeGreaterThan(1);
  expect(writers.filter((path) => !readFileSync(path, "utf8").includes("await analyzeFilled(tx)"))).toEqual([]);
});
