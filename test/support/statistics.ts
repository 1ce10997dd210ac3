import pg from "pg";
import type { Db } from "../../src/platform/database/db.ts";

const quoted = (tables: readonly string[]) => tables.map((name) => `"${name}"`).join(", ");

/** What PostgreSQL may know of tables: nothing, or what ANALYZE wrote when so many of their rows could be seen. */
export async function setKnownRows(db: Pick<Db, "pool">, tables: readonly string[], rows: number | "never") {
  const pages = rows === "never" ? "0" : "greatest(1, pg_relation_size(oid) / 8192)";
  await db.pool.query(
    `UPDATE pg_class SET reltuples = ${rows === "never" ? -1 : rows}, relpages = ${pages} WHERE relname = ANY ($1)`,
    [tables],
  );
  await db.pool.query(
    "DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relname = ANY ($1))",
    [tables],
  );
}

/**
 * Runs `work` while another connection runs ANALYZE before each of its statements, as autovacuum does: without waiting
 * for a lock.
 */
export async function besideAnalyze<T>(url: string, tables: readonly string[], work: () => Promise<T>): Promise<T> {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  const send = pg.Client.prototype.query;
  const analyze = () => Reflect.apply(send, other, [`ANALYZE (SKIP_LOCKED) ${quoted(tables)}`]) as Promise<unknown>;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const isStream = typeof args[0] === "object" && args[0] !== null && "submit" in args[0];
    if (this === other || isStream) return Reflect.apply(send, this, args) as never;
    return analyze().then(() => Reflect.apply(send, this, args) as unknown) as never;
  } as typeof send;
  try {
    return await work();
  } finally {
    pg.Client.prototype.query = send;
    await other.end();
  }
}

/** The pages of tables and their indexes that `work` reads over a pool of one connection, for each table. */
export async function countPagesRead(
  db: Pick<Db, "pool">,
  tables: readonly string[],
  work: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const read = async () => {
    // The server counts what a connection did when it is told to, at its next statement.
    await db.pool.query("SELECT pg_stat_force_next_flush()");
    await db.pool.query("SELECT");
    const { rows } = await db.pool.query<{ name: string; pages: string }>(
      `SELECT relname AS name, heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read AS pages
       FROM pg_statio_user_tables WHERE relname = ANY ($1)`,
      [tables],
    );
    return new Map(rows.map(({ name, pages }) => [name, Number(pages)]));
  };
  const before = await read();
  await work();
  const after = await read();
  return Object.fromEntries(tables.map((name) => [name, after.get(name)! - before.get(name)!]));
}
