import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "./db.ts";
import type { Queryable } from "./sql.ts";
import type { WorkerJob } from "../jobs/worker.ts";

// An upgrade of PostgreSQL also resets row counts, so the file size shows which table was never analysed.
const findOutdated = `
  SELECT c.relname AS "table" FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
  WHERE s.schemaname = current_schema() AND pg_has_role(c.relowner, 'USAGE')
    AND (s.n_live_tup > greatest(2 * c.reltuples, 1000)
      OR c.reltuples < 0 AND pg_relation_size(c.oid) > 65536
      OR c.reltuples > 1000 AND NOT EXISTS (
        SELECT FROM pg_stats t WHERE t.schemaname = s.schemaname AND t.tablename = s.relname))`;

/** Tables that are locked, such as those of a running ANALYZE, are left out. */
export async function analyze(db: Queryable, tables: readonly string[]): Promise<void> {
  if (tables.length > 0) await db.query(`ANALYZE (SKIP_LOCKED) ${tables.map((table) => `"${table}"`).join(", ")}`);
}

// Fewer rows in a large file are those of a transaction that is not over: ANALYZE would record an empty table.
const leastSeen = 100;
const countSeen = (table: string) => `SELECT FROM (SELECT FROM "${table}" LIMIT ${leastSeen}) AS seen`;

export async function analyzeOutdated(db: Db): Promise<string[]> {
  const { rows } = await db.pool.query<{ table: string }>({ name: "platform.findOutdated", text: findOutdated });
  const analyzed: string[] = [];
  for (const { table } of rows) {
    if ((await db.pool.query(countSeen(table))).rowCount !== leastSeen) continue;
    await analyze(db.pool, [table]);
    analyzed.push(table);
  }
  return analyzed;
}

/** Autovacuum looks every 60 s and has no interval per table; until then plans are made for the small table. */
export const makeStatisticsJob = (db: Db): WorkerJob => ({
  name: "platform.analyze",
  everySeconds: 2,
  run: async () => void (await analyzeOutdated(db)),
});

const leastFilled = 100;
const many = 10_000;

// The lock of ANALYZE tells that this transaction has run it already; afterwards PostgreSQL goes by the size.
const findFilled = `
  SELECT c.relname AS "table", s.n_tup_ins > 10 * c.reltuples AS "isUnknown"
  FROM pg_stat_xact_user_tables s JOIN pg_class c ON c.oid = s.relid
  WHERE s.schemaname = current_schema() AND s.n_tup_ins >= ${leastFilled}
    AND (s.n_tup_ins > ${many} OR 10 * s.n_tup_ins > c.reltuples) AND NOT EXISTS (
      SELECT FROM pg_locks l WHERE l.relation = c.oid AND l.pid = pg_backend_pid() AND l.mode = 'ShareUpdateExclusiveLock')
  ORDER BY c.relname`;

const pauseMs = 20;
const mostTries = 100;

/**
 * Call it after each statement of a transaction that writes many rows, before they are read. Others do not see these
 * rows: if one of them runs ANALYZE, PostgreSQL takes a table with many pages for an empty one, for which every index
 * costs the same, also in the checks of foreign keys. ANALYZE in this transaction counts the rows, and its lock keeps
 * others from it until the end.
 */
export async function analyzeFilled(tx: Queryable): Promise<void> {
  for (let tries = 0; tries < mostTries; tries++) {
    const { rows } = await tx.query<Filled>({ name: "platform.findFilled", text: findFilled });
    const tables = tries === 0 ? rows : rows.filter(({ isUnknown }) => isUnknown);
    if (tables.length === 0) return;
    // A transaction that holds the lock for longer than an ANALYZE takes has counted its own rows, which is enough.
    if (tries > 0) await sleep(pauseMs);
    await analyze(
      tx,
      tables.map(({ table }) => table),
    );
  }
}

type Filled = { table: string; isUnknown: boolean };

const findSparse = `
  SELECT relname AS "table" FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
    AND relpages > 8 AND reltuples >= 0 AND reltuples < relpages`;

/** Runs ANALYZE where it last ran while the rows belonged to a transaction that was not over. */
export async function analyzeSparse(db: Db, tables: readonly string[]): Promise<void> {
  const { rows } = await db.pool.query<{ table: string }>({ name: "platform.findSparse", text: findSparse });
  await analyze(
    db.pool,
    rows.map(({ table }) => table).filter((table) => tables.includes(table)),
  );
}
