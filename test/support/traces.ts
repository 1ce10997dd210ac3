import type { Db } from "../../src/platform/database/db.ts";

type Pool = Pick<Db, "pool">;

/**
 * The rows of every table, as text, that hold one of the words in whatever column; by table, and without tables that
 * have none.
 */
export async function findTraces({ pool }: Pool, words: readonly string[]): Promise<Record<string, string[]>> {
  const traces: Record<string, string[]> = {};
  for (const table of await listTables(pool, "true")) {
    const { rows } = await pool.query<{ row: string }>(
      `SELECT t::text AS row FROM "${table}" AS t WHERE EXISTS (SELECT FROM unnest($1::text[]) AS word WHERE position(lower(word) IN lower(t::text)) > 0) ORDER BY 1`,
      [words],
    );
    if (rows.length > 0) traces[table] = rows.map(({ row }) => row);
  }
  return traces;
}

/** The tables whose rows belong to a person. */
export const listTablesOfPeople = ({ pool }: Pool): Promise<string[]> =>
  listTables(
    pool,
    "table_name = 'person' OR EXISTS (SELECT FROM information_schema.columns c WHERE c.table_schema = 'public' AND c.table_name = t.table_name AND c.column_name = 'person_id')",
  );

/** Condition on `t` of information_schema.tables: it is no partition, whose rows are in the table as a whole. */
export const isWhole =
  "NOT (SELECT relispartition FROM pg_class WHERE oid = format('public.%I', t.table_name)::regclass)";

async function listTables(pool: Db["pool"], where: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT t.table_name AS name FROM information_schema.tables t WHERE t.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND ${isWhole} AND (${where}) ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}
