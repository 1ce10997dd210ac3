import type { Db } from "./db.ts";
import type { WorkerJob } from "./worker.ts";

const findGrown = `
  SELECT c.oid::regclass::text AS "table" FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
  WHERE s.schemaname = current_schema() AND s.n_live_tup > greatest(2 * c.reltuples, 1000)
    AND pg_has_role(c.relowner, 'USAGE')`;

/** Has PostgreSQL look again at tables that have doubled; answers which. */
export async function analyzeGrown(db: Pick<Db, "pool">): Promise<string[]> {
  const { rows } = await db.pool.query<{ table: string }>({ name: "platform.findGrown", text: findGrown });
  for (const { table } of rows) await db.pool.query(`ANALYZE (SKIP_LOCKED) ${table}`);
  return rows.map(({ table }) => table);
}

/**
 * PostgreSQL looks by itself once a minute, and until then scans tables that were small when a statement was prepared.
 */
export const makeStatisticsJob = (db: Pick<Db, "pool">): WorkerJob => ({
  name: "platform.analyze",
  everySeconds: 2,
  run: async () => void (await analyzeGrown(db)),
});
