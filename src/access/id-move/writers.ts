import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../platform/database/db.ts";
import { findRows, sql, statement, type Queryable } from "../../platform/database/sql.ts";
import type { Held } from "./job.ts";

const listWriters = statement(
  () => sql`
  SELECT DISTINCT virtualtransaction AS id FROM pg_locks
  WHERE relation = 'pairwise_id'::regclass AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  "access.listIdWriters",
);

const list = async (db: Queryable) => (await findRows<{ id: string }>(db, listWriters, {})).map(({ id }) => id);

const pauseMs = 100;

/**
 * Waits for the transactions that make ids now. They may not see yet what was committed before this call; those that
 * begin to make ids later do.
 */
export async function waitForWriters({ pool }: Db, { renew, signal }: Pick<Held, "renew" | "signal">): Promise<void> {
  let before = await list(pool);
  while (before.length > 0) {
    await renew();
    await sleep(pauseMs, undefined, { signal });
    const now = new Set(await list(pool));
    before = before.filter((id) => now.has(id));
  }
}
