import type { Queryable } from "../platform/database/db.ts";
import { empty, run, sql, statement, table, update, type Part, type Sql } from "../platform/database/sql.ts";

const lock = sql`hashtextextended('webhook queues', 0)`;
const locks = {
  shared: statement(() => sql`SELECT pg_advisory_xact_lock_shared(${lock})`, "webhooks.shareQueues"),
  exclusive: statement(() => sql`SELECT pg_advisory_xact_lock(${lock})`, "webhooks.holdQueues"),
};

/**
 * Lets this transaction change queues. What one subject has pending for one endpoint is a queue; only its first has a
 * time when it is due, so that a search for what is due never reads what waits behind it.
 *
 * Shape:  `shared` is for recording results, which take a first away and promote the next; `exclusive` for all else. So
 *         nothing is appended to a queue that is being emptied, and none is left without its first; an index refuses a
 *         second one.
 * Errors: those of the database, a lock timeout included.
 */
export async function lockQueues(tx: Queryable, mode: keyof typeof locks): Promise<void> {
  await run(tx, locks[mode], {});
}

type Delivery = ReturnType<typeof table<"webhookDelivery">>;

/** SQL: whether a delivery is due, is the first of its queue, or waits behind it. Worded as the index for it is. */
export const isDue = (d: Delivery, at: Part): Sql => sql`${d.dueAt} > '-infinity' AND ${d.dueAt} <= ${at}`;
export const isFirst = (d: Delivery): Sql => sql`${d.state} = 'PENDING' AND ${d.dueAt} IS NOT NULL`;
export const isWaiting = (d: Delivery): Sql => sql`${d.state} = 'PENDING' AND ${d.dueAt} IS NULL`;

const f = table("webhookDelivery", "f");

/** SQL that joins `first.id`, the first of the queue of an endpoint and a subject, without the rows in `taken`. */
export const joinFirst = (queue: { endpointId: Sql; subjectId: Sql }, taken?: Sql): Sql => sql`
  LEFT JOIN LATERAL (
    SELECT ${f.id} FROM ${f}
    WHERE ${f.endpointId} = ${queue.endpointId} AND ${f.subjectId} = ${queue.subjectId} AND ${isFirst(f)}
      ${taken === undefined ? empty : sql`AND ${f.id} NOT IN (SELECT id FROM ${taken})`}
    LIMIT 1) first ON true`;

const d = table("webhookDelivery", "d");
const n = table("webhookDelivery", "n");

// Another process may have been faster. In this form the primary key stays the one way to the row.
const stillWaiting = sql`CASE WHEN ${d.dueAt} IS NULL THEN ${d.state} = 'PENDING' ELSE false END`;

/**
 * SQL that makes the next of a queue due, at `at`, where the same statement takes rows away and no first is left.
 *
 * Shape: `taken` names a relation with id, endpoint_id and subject_id of these rows.
 */
export const promoteNext = (taken: Sql, at: Part): Sql => sql`
  ${update("webhookDelivery", "d", { dueAt: at })}
  FROM (SELECT DISTINCT endpoint_id, subject_id FROM ${taken}) queue
  CROSS JOIN LATERAL (
    SELECT ${n.id} FROM ${n}
    WHERE ${n.endpointId} = queue.endpoint_id AND ${n.subjectId} = queue.subject_id AND ${isWaiting(n)}
      AND ${n.id} NOT IN (SELECT id FROM ${taken})
    ORDER BY ${n.id} LIMIT 1) next
  ${joinFirst({ endpointId: sql`queue.endpoint_id`, subjectId: sql`queue.subject_id` }, taken)}
  WHERE ${d.id} = next.id AND first.id IS NULL AND ${stillWaiting}`;
