import type { Db } from "../../src/platform/database/db.ts";

/**
 * Counts the statements in this database that wait for a lock; `starting` with the pattern, and for this table in this
 * mode, such as `AccessShareLock` for those that only read it.
 */
export async function countWaiting(
  { pool }: { pool: Pick<Db["pool"], "query"> },
  { starting = "", table, mode }: { starting?: string; table?: string; mode?: string } = {},
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ $1
       AND ($2::text IS NULL OR EXISTS (SELECT FROM pg_locks WHERE pg_locks.pid = pg_stat_activity.pid
         AND relation = $2::regclass AND NOT granted AND mode = coalesce($3, mode)))`,
    [`^\\s*${starting}`, table ?? null, mode ?? null],
  );
  return rows[0]!.count;
}

/** Counts the imports that wait with everything written, before their last statement. */
export const countWaitingImports = (db: { pool: Pick<Db["pool"], "query"> }): Promise<number> =>
  countWaiting(db, { starting: "UPDATE .*import_school" });
