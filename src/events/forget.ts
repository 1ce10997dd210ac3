import type { Db } from "../platform/db.ts";

const deleteSome = `
  DELETE FROM app_event WHERE id = ANY (ARRAY(SELECT id FROM app_event WHERE client_id = $1 LIMIT $2))`;

/** Removes the events of an app that is gone, in batches: whoever gives events their positions never waits for long. */
export async function forgetEventsOf(db: Pick<Db, "pool">, clientId: string, batch = 5000): Promise<void> {
  while ((await db.pool.query({ name: "events.forgetSome", text: deleteSome, values: [clientId, batch] })).rowCount);
}
