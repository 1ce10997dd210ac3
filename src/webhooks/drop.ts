import { withTransaction, type Db } from "../platform/database/db.ts";
import { makeFind, makeRun, sql, table, update, type Sql, type Queryable } from "../platform/database/sql.ts";
import { isFirst, isWaiting, lockQueues } from "./queue.ts";

const most = 1000;

const d = table("webhookDelivery", "d");
const w = table("webhookEndpoint", "w");

const dropSome = (which: Sql, name: string) =>
  makeRun<{ endpointId: string; now: Date }>(
    ({ endpointId, now }) => sql`
    ${update("webhookDelivery", "d", { state: sql`'FAILED'`, dueAt: sql`NULL`, finishedAt: now })}
    WHERE ${d.id} = ANY (ARRAY(
      SELECT ${d.id} FROM ${d} WHERE ${d.endpointId} = ${endpointId} AND ${which} LIMIT ${most}))`,
    name,
  );

// Waiting deliveries first, so that a queue never loses its first one while others remain.
const drops = [dropSome(isWaiting(d), "webhooks.dropWaiting"), dropSome(isFirst(d), "webhooks.dropFirsts")];

export async function dropPending(tx: Queryable, endpointId: string, now: Date): Promise<void> {
  for (const drop of drops) if ((await drop(tx, { endpointId, now })) === most) return;
}

const findDisabled = makeFind<{ id: string }>("webhooks.findDisabled")`
  SELECT ${w.id} FROM ${w}
  CROSS JOIN LATERAL (
    SELECT FROM ${d} WHERE ${d.endpointId} = ${w.id} AND ${d.dueAt} > '-infinity' ORDER BY ${d.subjectFails}, ${d.dueAt}
      LIMIT 1) pending
  WHERE ${w.state} = 'DISABLED' LIMIT 1`;

export async function dropLeft(db: Db, { now, signal }: { now: Date; signal: AbortSignal }): Promise<void> {
  for (let isMore = true; isMore && !signal.aborted;) {
    isMore = await withTransaction(db, async (tx) => {
      await lockQueues(tx, "exclusive");
      const [endpoint] = await findDisabled(tx, {});
      if (endpoint !== undefined) await dropPending(tx, endpoint.id, now);
      return endpoint !== undefined;
    });
  }
}
