import type { Db } from "../src/platform/database/db.ts";
import type { Queryable } from "../src/platform/database/sql.ts";
import { setKnownRows } from "../test/support/statistics.ts";

/**
 * What PostgreSQL knows of the tables while a measurement runs (BENCH_STATISTICS).
 *
 * Shape: `kept`: what autovacuum and the service's own job leave as the work goes on. `fresh`: all tables were analysed
 *        just before. `none`: nothing, as long as the measurement runs; needs PostgreSQL 18.
 */
const kinds = ["kept", "fresh", "none"] as const;
type Kind = (typeof kinds)[number];

function readKind(given = "kept"): Kind {
  const kind = kinds.find((name) => name === given);
  if (kind === undefined) throw new Error(`BENCH_STATISTICS is one of ${kinds.join(", ")}.`);
  return kind;
}

export const statistics = readKind(process.env["BENCH_STATISTICS"]);

const listTables = `
  SELECT string_agg(format('%I', tablename), ', ') AS tables FROM pg_tables WHERE schemaname = current_schema()`;

// To be called with all tables locked: otherwise one of them may be analysed before this is committed.
const forget = `
  SELECT pg_clear_relation_stats(schemaname, tablename) FROM pg_tables WHERE schemaname = current_schema();
  SELECT pg_clear_attribute_stats(schemaname, tablename, attname, inherited) FROM pg_stats
  WHERE schemaname = current_schema()`;

const countKnown = `
  SELECT count(*)::int AS known FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND reltuples >= 0`;

const mostTries = 20;

/** Brings the statistics into the state that was asked for. */
export async function resetStatistics({ pool }: Db): Promise<void> {
  if (statistics === "fresh") await pool.query("VACUUM ANALYZE");
  if (statistics === "none") await withTablesLocked({ pool }, () => Promise.resolve());
}

/**
 * Makes PostgreSQL forget what it knows of the tables, or believe what ANALYZE wrote while all of their rows belonged
 * to a transaction that was not over. Autovacuum then leaves them as they are; a later ANALYZE does not.
 */
export async function loseStatistics({ pool }: Db, isCountedEmpty: boolean): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'",
  );
  const tables = rows.map(({ name }) => name);
  await pool.query(tables.map((name) => `ALTER TABLE "${name}" SET (autovacuum_enabled = false)`).join("; "));
  await setKnownRows({ pool }, tables, isCountedEmpty ? 0 : "never");
}

/** The same, and keeps it so while `work` runs. */
export async function withStatistics<T>(db: Db, work: () => Promise<T>): Promise<T> {
  if (statistics === "none") return withTablesLocked(db, work);
  await resetStatistics(db);
  return work();
}

async function knowsNothing(client: Queryable): Promise<boolean> {
  const { rows } = await client.query<{ known: number }>(countKnown);
  return rows[0]!.known === 0;
}

// The lock is the one that ANALYZE and VACUUM take: the service's job and autovacuum pass locked tables by, and nobody
// else waits.
async function withTablesLocked<T>({ pool }: Db, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const { rows } = await client.query<{ tables: string }>(listTables);
  const lock = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0;
    LOCK TABLE ${rows[0]!.tables} IN SHARE UPDATE EXCLUSIVE MODE`;
  try {
    for (let tries = 0; tries < mostTries; tries++) {
      await client.query(`${lock}; ${forget}; COMMIT; ${lock}`);
      if (await knowsNothing(client)) {
        const result = await work();
        if (!(await knowsNothing(client))) throw new Error("A table was analysed while it was measured.");
        return result;
      }
      await client.query("ROLLBACK");
    }
    throw new Error("The tables are analysed faster than their statistics can be forgotten.");
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
}
