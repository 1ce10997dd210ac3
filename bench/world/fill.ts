import { readConfig } from "../../src/config/index.ts";
import { withTransaction, type PrismaDb } from "../../src/platform/database/db.ts";
import { hashPassword } from "../../src/accounts/index.ts";
import { registerEndpoint } from "../../test/support/webhook-changes.ts";
import { fillPeople, fillSchools } from "./people.ts";
import { appCount, dayMs, makeShape, password, type Fill, type Shape, type WorldSize } from "./shape.ts";
import { fillSignOn } from "./sign-on.ts";
import { fillYear } from "./year.ts";

/** Shape: tables that have rows, the largest first. Units: bytes with indexes. */
export type Filled = { table: string; rows: number; bytes: number; seconds: number };

const peopleInBatch = 100_000;
/** Their indexes that are not unique are made again once all rows are there. */
const indexedAfterwards = new Set(["app_event", "audit", "oidc_artifact", "person_import", "webhook_delivery"]);

/**
 * Fills a migrated database without people to a size; every trigger and constraint is in force.
 *
 * Errors: a database that has people is refused.
 */
export async function fillWorld(
  db: PrismaDb,
  size: WorldSize,
  say: (line: string) => void = () => undefined,
): Promise<Filled[]> {
  const { rows } = await db.pool.query<{ used: boolean }>("SELECT EXISTS (SELECT FROM person) AS used");
  if (rows[0]!.used) throw new Error("the database has people already; a world is made in an empty one");
  const shape = makeShape(size);
  const seconds = new Map<string, number>();
  const run = async (fills: Fill[]) => {
    for (const [table, taken] of await runFills(db, fills)) {
      seconds.set(table, (seconds.get(table) ?? 0) + taken);
      say(`${table}: ${taken.toFixed(1)} s`);
    }
  };
  await run(fillSchools(shape));
  await addEndpoints(db, shape);
  const passwordHash = await hashPassword(password);
  for (let from = 0; from < size.people; from += peopleInBatch)
    await run(fillPeople(shape, { from, to: Math.min(from + peopleInBatch, size.people) - 1, passwordHash }));
  for (const fill of [...fillSignOn(shape), ...fillYear(shape)]) await run([fill]);
  await gatherStatistics(db);
  return measure(db, seconds);
}

/** Runs statements in one transaction; answers the table and seconds of each. */
async function runFills(db: PrismaDb, fills: Fill[]): Promise<[string, number][]> {
  return withTransaction(db, async (tx) => {
    await tx.query(
      "SET LOCAL statement_timeout = 0; SET LOCAL synchronous_commit = off; SET LOCAL maintenance_work_mem = '512MB'; SET LOCAL work_mem = '64MB'",
    );
    const taken: [string, number][] = [];
    for (const { table, sql, values } of fills) {
      const began = performance.now();
      const indexes = indexedAfterwards.has(table) ? await dropIndexes(table) : [];
      await tx.query(sql, values);
      for (const index of indexes) await tx.query(index);
      await tx.query(`ANALYZE "${table}"`);
      taken.push([table, (performance.now() - began) / 1000]);
    }
    return taken;

    async function dropIndexes(table: string): Promise<string[]> {
      const { rows } = await tx.query<{ name: string; made: string }>(
        `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS made FROM pg_index
         WHERE indrelid = $1::regclass AND NOT indisunique ORDER BY 1`,
        [table],
      );
      for (const { name } of rows) await tx.query(`DROP INDEX ${name}`);
      // Of a partitioned table PostgreSQL shows the index without those of its partitions.
      return rows.map(({ made }) => made.replace(" ON ONLY ", " ON "));
    }
  });
}

/** Every second app has an endpoint, where nobody listens. */
async function addEndpoints(db: PrismaDb, { uuid, until }: Shape): Promise<void> {
  const { encryptionKeys: keys } = readConfig({ NODE_ENV: "development" });
  for (let n = 0; n < appCount; n += 2) {
    const clientId = `app-${String(n).padStart(2, "0")}`;
    await registerEndpoint(
      db,
      { clientId, url: `http://127.0.0.1:9/hook/${n}`, eventTypes: ["person", "group", "school"] },
      { origin: { at: new Date(until.getTime() - 390 * dayMs) }, keys, policy: { allowPrivateAddresses: true } },
    );
    await db.pool.query(`UPDATE webhook_endpoint SET id = ${uuid("endpoint", String(n))} WHERE client_id = $1`, [
      clientId,
    ]);
  }
}

async function gatherStatistics({ pool }: PrismaDb): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("SET statement_timeout = 0");
    await client.query("VACUUM (ANALYZE)");
    await client.query("RESET statement_timeout");
  } finally {
    client.release();
  }
}

async function measure({ pool }: PrismaDb, seconds: Map<string, number>): Promise<Filled[]> {
  const { rows: tables } = await pool.query<{ table: string; bytes: number }>(
    `SELECT c.relname AS table, greatest(pg_total_relation_size(c.oid),
       (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(c.oid)))::float8 AS bytes
     FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname <> '_prisma_migrations' ORDER BY 2 DESC, 1`,
  );
  const filled: Filled[] = [];
  for (const { table, bytes } of tables) {
    const { rows } = await pool.query<{ rows: number }>(`SELECT count(*)::float8 AS rows FROM "${table}"`);
    if (rows[0]!.rows > 0) filled.push({ table, rows: rows[0]!.rows, bytes, seconds: seconds.get(table) ?? 0 });
  }
  return filled;
}
