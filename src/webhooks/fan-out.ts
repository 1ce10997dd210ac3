import { withTransaction, type Db } from "../platform/db.ts";
import { unhurried } from "./delivery/lease.ts";
import { payload } from "./payload.ts";
import { joinFirst, lockQueues } from "./queue.ts";

/** What tells the other processes that there is something to deliver. */
export const deliveryChannel = "webhook_delivery";

// The deliveries and the place up to which they are made commit together.
const fanOutBatch = `
  WITH batch AS MATERIALIZED (
    SELECT e.* FROM app_event e WHERE e.position > (SELECT position FROM webhook_fan_out WHERE id = 1) ORDER BY e.position LIMIT $2),
  wanted AS (
    SELECT e.*, w.id AS endpoint_id, row_number() OVER (PARTITION BY w.id, e.subject_id ORDER BY e.position) = 1 AS leads
    FROM batch e JOIN webhook_endpoint w ON w.client_id = e.client_id AND e.type = ANY (w.event_types) AND w.state <> 'DISABLED'),
  made AS (
    INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, body, due_at, created_at)
    SELECT e.id, e.endpoint_id, e.type, e.subject_id, ${payload}, CASE WHEN e.leads AND first.id IS NULL THEN $1::timestamptz END, $1
    FROM wanted e ${joinFirst("e")}
    ORDER BY e.position, e.endpoint_id
    RETURNING id),
  moved AS (
    UPDATE webhook_fan_out SET position = (SELECT max(position) FROM batch) WHERE id = 1 AND EXISTS (SELECT FROM batch))
  SELECT (SELECT count(*) FROM batch)::int AS read, made.count::int AS made,
    CASE WHEN made.count > 0 AND ${unhurried} THEN pg_notify('${deliveryChannel}', '') END
  FROM (SELECT count(*) FROM made) made`;

/** Makes a delivery of every new event for every endpoint that asked for its type. */
export async function fanOut(
  db: Pick<Db, "pool">,
  { now, limit }: { now: Date; limit: number },
): Promise<{ read: number; made: number }> {
  return withTransaction(db, async (tx) => {
    await lockQueues(tx, "exclusive");
    const { rows } = await tx.query<{ read: number; made: number }>({
      name: "webhooks.fanOut",
      text: fanOutBatch,
      values: [now, limit],
    });
    return { read: rows[0]!.read, made: rows[0]!.made };
  });
}
