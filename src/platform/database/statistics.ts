import type { Db } from "./db.ts";
import type { WorkerJob } from "../jobs/worker.ts";

// An upgrade of PostgreSQL also resets row counts, so the file size shows which table was never analysed.
const findOutdated = `
  SELECT c.oid::regclass::text AS "table" FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
  WHERE s.schemaname = current_schema() AND pg_has_role(c.relowner, 'USAGE')
    AND (s.n_live_tup > greatest(2 * c.reltuples, 1000)
      OR c.reltuples < 0 AND pg_relation_size(c.oid) > 65536
      OR c.reltuples > 1000 AND NOT EXISTS (
        SELECT FROM pg_stats t WHERE t.schemaname = s.schemaname AND t.tablename = s.relname))`;

export async function analyzeOutdated(db: Db): Promise<string[]> {
  const { rows } = await db.pool.query<{ table: string }>({ name: "platform.findOutdated", text: findOutdated });
  for (const { table } of rows) await db.pool.query(`ANALYZE (SKIP_LOCKED) ${table}`);
  return rows.map(({ table }) => table);
}

/** Autovacuum looks every 60 s and has no interval per table; until then plans are made for the small table. */
export const makeStatisticsJob = (db: Db): WorkerJob => ({
  name: "platform.analyze",
  everySeconds: 2,
  run: async () => void (await analyzeOutdated(db)),
});
