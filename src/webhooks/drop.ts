import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import { isFirst, isWaiting, lockQueues } from "./queue.ts";

const most = 1000;

const dropSome = (which: string): string => `
  UPDATE webhook_delivery SET state = 'FAILED', due_at = NULL, finished_at = $2
  WHERE id = ANY (ARRAY(SELECT d.id FROM webhook_delivery d WHERE d.endpoint_id = $1 AND ${which} LIMIT ${most}))`;

// What waits behind others goes before them: what is left keeps its first, should the endpoint be resumed.
const drops = [
  { name: "webhooks.dropWaiting", text: dropSome(isWaiting("d")) },
  { name: "webhooks.dropFirsts", text: dropSome(isFirst("d")) },
];

/** Gives up what is pending for an endpoint, or the first part of much. The queues are held by the caller. */
export async function dropPending(tx: Queryable, endpointId: string, now: Date): Promise<void> {
  for (const drop of drops) {
    const { rowCount } = await tx.query({ ...drop, values: [endpointId, now] });
    if (rowCount === most) return;
  }
}

const findDisabled = `
  SELECT w.id FROM webhook_endpoint w
  CROSS JOIN LATERAL (SELECT FROM webhook_delivery d WHERE d.endpoint_id = w.id AND d.due_at > '-infinity' ORDER BY d.due_at LIMIT 1) pending
  WHERE w.state = 'DISABLED' LIMIT 1`;

/** Gives up what disabled endpoints have left, in turns that are short for those who wait. */
export async function dropLeft(
  db: Pick<Db, "pool">,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<void> {
  for (let isMore = true; isMore && !signal.aborted;) {
    isMore = await withTransaction(db, async (tx) => {
      await lockQueues(tx, "exclusive");
      const { rows } = await tx.query<{ id: string }>({ name: "webhooks.findDisabled", text: findDisabled });
      if (rows[0]) await dropPending(tx, rows[0].id, now);
      return rows[0] !== undefined;
    });
  }
}
