import { withTransaction, type Db } from "../platform/database/db.ts";
import { columnNames, insert, makeFindOne, sql, table, update, asynchronous } from "../platform/database/sql.ts";
import { payload } from "./payload.ts";
import { joinFirst, lockQueues } from "./queue.ts";

export const deliveryChannel = "webhook_delivery";

const e = table("appEvent", "e");
const w = table("webhookEndpoint", "w");
const fanOutPosition = table("webhookFanOut", "f");

// Deliveries and the position that they are made up to commit together.
const fanOutBatch = makeFindOne<{ read: number; made: number }, { now: Date; limit: number; channel: string }>(
  ({ now, limit, channel }) => sql`
  WITH batch AS MATERIALIZED (
    SELECT e.* FROM ${e}
    WHERE ${e.position} > (SELECT ${fanOutPosition.position} FROM ${fanOutPosition} WHERE ${fanOutPosition.id} = 1)
    ORDER BY ${e.position} LIMIT ${limit}),
  wanted AS (
    SELECT e.*, ${w.id} AS endpoint_id,
      row_number() OVER (PARTITION BY ${w.id}, ${e.subjectId} ORDER BY ${e.position}) = 1 AS leads
    FROM batch e JOIN ${w}
      ON ${w.clientId} = ${e.clientId} AND ${e.type} = ANY (${w.eventTypes}) AND ${w.state} <> 'DISABLED'
        AND (${w.listensUntil} IS NULL OR ${w.listensUntil} > ${now})),
  made AS (
    ${insert(
      "webhookDelivery",
      {
        messageId: e.id,
        endpointId: sql`e.endpoint_id`,
        eventType: e.type,
        subjectId: e.subjectId,
        body: payload,
        traceparent: e.traceparent,
        dueAt: sql`CASE WHEN e.leads AND first.id IS NULL THEN ${now}::timestamptz END`,
        createdAt: now,
      },
      sql`FROM wanted e ${joinFirst({ endpointId: sql`e.endpoint_id`, subjectId: e.subjectId })}
        ORDER BY ${e.position}, e.endpoint_id`,
    )}
    RETURNING ${columnNames("webhookDelivery", "id")}),
  moved AS (
    ${update("webhookFanOut", "f", { position: sql`(SELECT max(position) FROM batch)` })}
    WHERE ${fanOutPosition.id} = 1 AND EXISTS (SELECT FROM batch))
  SELECT (SELECT count(*) FROM batch)::int AS read, made.count::int AS made,
    CASE WHEN made.count > 0 AND ${asynchronous} THEN pg_notify(${channel}, '') END
  FROM (SELECT count(*) FROM made) made`,
  "webhooks.fanOut",
);

export async function fanOut(db: Db, { now, limit }: { now: Date; limit: number }) {
  return withTransaction(db, async (tx) => {
    await lockQueues(tx, "exclusive");
    const { read, made } = await fanOutBatch(tx, { now, limit, channel: deliveryChannel });
    return { read, made };
  });
}
