import type { Queryable } from "../platform/db.ts";

const lock = "hashtextextended('webhook queues', 0)";
const locks = {
  shared: { name: "webhooks.shareQueues", text: `SELECT pg_advisory_xact_lock_shared(${lock})` },
  exclusive: { name: "webhooks.holdQueues", text: `SELECT pg_advisory_xact_lock(${lock})` },
};

/**
 * Lets this transaction change queues. What one subject has pending for one endpoint is a queue; only its first has a time when it
 * is due, so that nobody who looks for what is due ever reads what waits behind it.
 *
 * Shape: `shared` is for writing down results, which take a first away and promote the next; `exclusive` for all else. So nobody
 *        appends to a queue that empties unseen, and none is left without its first; an index refuses a second one.
 */
export async function lockQueues(tx: Queryable, mode: keyof typeof locks): Promise<void> {
  await tx.query(locks[mode]);
}

/** SQL: whether a delivery is due, is the first of its queue, or waits behind it. Each is said as the index says that is for it. */
export const isDue = (d: string, at: string): string => `${d}.due_at > '-infinity' AND ${d}.due_at <= ${at}`;
export const isFirst = (d: string): string => `${d}.state = 'PENDING' AND ${d}.due_at IS NOT NULL`;
export const isWaiting = (d: string): string => `${d}.state = 'PENDING' AND ${d}.due_at IS NULL`;

/** SQL that joins `first.id`, the first of the queue of `row`, without the rows in `taken`. */
export const joinFirst = (row: string, taken?: string): string => `
  LEFT JOIN LATERAL (
    SELECT f.id FROM webhook_delivery f
    WHERE f.endpoint_id = ${row}.endpoint_id AND f.subject_id = ${row}.subject_id AND ${isFirst("f")} ${taken === undefined ? "" : `AND f.id NOT IN (SELECT id FROM ${taken})`}
    LIMIT 1) first ON true`;

// Another process may have been faster. In a form that leaves the primary key as the one way to the row.
const stillWaiting = "CASE WHEN d.due_at IS NULL THEN d.state = 'PENDING' ELSE false END";

/**
 * SQL that makes due, at `at`, what comes next in the queues of which the same statement takes rows away, and no first is left.
 *
 * Shape: `taken` names a relation with id, endpoint_id and subject_id of these rows.
 */
export const promoteNext = (taken: string, at: string): string => `
  UPDATE webhook_delivery d SET due_at = ${at}
  FROM (SELECT DISTINCT endpoint_id, subject_id FROM ${taken}) queue
  CROSS JOIN LATERAL (
    SELECT n.id FROM webhook_delivery n
    WHERE n.endpoint_id = queue.endpoint_id AND n.subject_id = queue.subject_id AND ${isWaiting("n")} AND n.id NOT IN (SELECT id FROM ${taken})
    ORDER BY n.id LIMIT 1) next
  ${joinFirst("queue", taken)}
  WHERE d.id = next.id AND first.id IS NULL AND ${stillWaiting}`;
