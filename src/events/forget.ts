import type { Db } from "../platform/database/db.ts";
import { run, sql, statement, table } from "../platform/database/sql.ts";

const e = table("appEvent", "e");
const oldest = table("appEvent", "oldest");

const deleteSome = statement<{ clientId: string; batch: number }>(
  ({ clientId, batch }) => sql`
  DELETE FROM ${e} WHERE ${e.id} = ANY (ARRAY(
    SELECT ${oldest.id} FROM ${oldest} WHERE ${oldest.clientId} = ${clientId} LIMIT ${batch}))`,
  "events.forgetSome",
);

/** Removes the events of a deleted app in batches, so that `sequenceEvents` never waits for long. */
export async function forgetEventsOf(db: Pick<Db, "pool">, clientId: string, batch = 5000): Promise<void> {
  while ((await run(db.pool, deleteSome, { clientId, batch })) > 0);
}
