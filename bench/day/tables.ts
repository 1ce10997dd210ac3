import type { Db } from "../../src/platform/database/db.ts";

/** Units: bytes with indexes; rows as PostgreSQL counts them. */
export type Size = { bytes: number; live: number; dead: number };
export type Writes = { inserted: number; updated: number; deleted: number };

type Row = Size & Writes & { name: string };

/** Of each table, its partitions together. */
const measure = `
  SELECT coalesce(parent.relname, c.relname) AS name, sum(pg_total_relation_size(c.oid))::float8 AS bytes,
    sum(s.n_live_tup)::float8 AS live, sum(s.n_dead_tup)::float8 AS dead,
    sum(s.n_tup_ins)::float8 AS inserted, sum(s.n_tup_upd)::float8 AS updated, sum(s.n_tup_del)::float8 AS deleted
  FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid
  LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class parent ON parent.oid = i.inhparent
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> 'bench_pair' GROUP BY 1`;

export async function measureTables({ pool }: Pick<Db, "pool">): Promise<Map<string, Size & Writes>> {
  const { rows } = await pool.query<Row>(measure);
  return new Map(rows.map(({ name, ...size }) => [name, size]));
}

/** The larger of two, number by number. */
export const larger = (a: Size, b: Size): Size => ({
  bytes: Math.max(a.bytes, b.bytes),
  live: Math.max(a.live, b.live),
  dead: Math.max(a.dead, b.dead),
});

const million = (value: number) => (value / 1e6).toFixed(2);

export const showSize = ({ bytes, live, dead }: Size): string =>
  `${(bytes / 1e6).toFixed(0)} MB, ${million(live)} / ${million(dead)} M`;
