import type pg from "pg";
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

/**
 * Ends once as many statements wait for a lock. PostgreSQL tells nobody of it, so it is asked until it says so.
 */
export async function untilWaiting(
  db: { pool: Pick<Db["pool"], "query"> },
  count = 1,
  which: Parameters<typeof countWaiting>[1] = {},
): Promise<void> {
  while ((await countWaiting(db, which)) !== count);
}

/** Ends once no other session works or is in a transaction. PostgreSQL tells nobody of it. */
export async function untilIdle(db: { pool: Pick<Db["pool"], "query"> }): Promise<void> {
  while ((await countAround(db)) !== 0);
}

/** Lets the statements of a pool that has no connection yet wait for as long as a test holds what they need. */
export function waitWithoutEnd(pool: pg.Pool): void {
  if (pool.totalCount > 0) throw new Error("The pool has connections already.");
  pool.on(
    "connect",
    (client) => void client.query("SET lock_timeout = 0; SET statement_timeout = 0").catch(() => undefined),
  );
}

/** Ends once an import waits with everything written, before its last statement. */
export const untilImportWaits = (db: { pool: Pick<Db["pool"], "query"> }): Promise<void> =>
  untilWaiting(db, 1, { starting: "UPDATE .*import_school" });

/**
 * Counts the sessions of others in this database that work or are in a transaction. The server may take a moment to
 * notice that a process is gone.
 */
async function countAround({ pool }: { pool: Pick<Db["pool"], "query"> }): Promise<number | null> {
  const { rowCount } = await pool.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND (state LIKE 'idle in%' OR state = 'active')",
  );
  return rowCount;
}
