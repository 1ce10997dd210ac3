import type { World } from "./worlds.ts";

const largeRows = 100_000;
/** Of tables whose rows PostgreSQL did not count. */
const largeBytes = 8_000_000;

type Scans = Map<string, { scans: number; rows: number }>;

/** How often each large table was read from end to end so far, with the rows that were read. */
async function countScans({ db }: World): Promise<Scans> {
  const { rows } = await db.pool.query<{ table: string; scans: number; rows: number }>(
    `SELECT c.relname AS table, seq_scan::float8 AS scans, seq_tup_read::float8 AS rows
     FROM pg_stat_user_tables JOIN pg_class c ON c.oid = relid 
     WHERE c.reltuples >= $1 OR c.reltuples <= 0 AND pg_relation_size(c.oid) >= $2 ORDER BY 1`,
    [largeRows, largeBytes],
  );
  return new Map(rows.map(({ table, ...count }) => [table, count]));
}

/** Runs `work`, whose connections are closed at its end, and prints which tables it read from end to end. */
export async function reportScans(world: World, what: string, work: () => Promise<void>): Promise<void> {
  const before = await countScans(world);
  await work();
  const read: string[] = [];
  for (const [table, { scans, rows }] of await countScans(world)) {
    const had = before.get(table) ?? { scans: 0, rows: 0 };
    if (scans > had.scans)
      read.push(`${table} ${String(scans - had.scans)} times, ${(rows - had.rows).toLocaleString("en")} rows`);
  }
  const found = read.length === 0 ? "none" : read.join("; ");
  console.log(`\n${what}: tables of ${largeRows.toLocaleString("en")} rows and more read from end to end: ${found}`);
}
