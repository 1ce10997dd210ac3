import type { Queryable } from "../platform/db.ts";
import { unhurried } from "./delivery/lease.ts";
import { payload } from "./payload.ts";

/** What tells the other processes that there is something to deliver. */
export const deliveryChannel = "webhook_delivery";

// One at a time by the lock on the one row; the deliveries and the place up to which they are made commit together.
const fanOutBatch = `
  WITH reached AS MATERIALIZED (SELECT position FROM webhook_fan_out WHERE id = 1 FOR UPDATE),
  batch AS MATERIALIZED (
    SELECT e.* FROM app_event e WHERE e.position > (SELECT position FROM reached) ORDER BY e.position LIMIT $2),
  made AS (
    INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, body, next_attempt_at, created_at)
    SELECT e.id, w.id, e.type, e.subject_id, ${payload}, $1, $1
    FROM batch e JOIN webhook_endpoint w ON w.client_id = e.client_id AND e.type = ANY (w.event_types) AND w.state <> 'DISABLED'
    ORDER BY e.position, w.id
    RETURNING id),
  moved AS (
    UPDATE webhook_fan_out SET position = (SELECT max(position) FROM batch) WHERE id = 1 AND EXISTS (SELECT FROM batch))
  SELECT (SELECT count(*) FROM batch)::int AS read, made.count::int AS made,
    CASE WHEN made.count > 0 AND ${unhurried} THEN pg_notify('${deliveryChannel}', '') END
  FROM (SELECT count(*) FROM made) made`;

/** Makes a delivery of every new event for every endpoint that asked for its type. */
export async function fanOut(db: Queryable, { now, limit }: { now: Date; limit: number }): Promise<{ read: number; made: number }> {
  const { rows } = await db.query<{ read: number; made: number }>({ name: "webhooks.fanOut", text: fanOutBatch, values: [now, limit] });
  return { read: rows[0]!.read, made: rows[0]!.made };
}
