import { type Queryable, empty, makeRun, sql, table, update, type Part, type Sql } from "../platform/database/sql.ts";

const lock = sql`hashtextextended('webhook queues', 0)`;
const locks = {
  shared: makeRun("webhooks.shareQueues")`SELECT pg_advisory_xact_lock_shared(${lock})`,
  exclusive: makeRun("webhooks.holdQueues")`SELECT pg_advisory_xact_lock(${lock})`,
};

/**
 * Lets the transaction change queues. A queue is what one subject has pending for one endpoint; only its first delivery
 * has a due time, so that searches for due deliveries skip the rest. Recording results, which removes the first and
 * promotes the next, takes `shared`; all else takes `exclusive`, so that no queue is left without its first.
 */
export async function lockQueues(tx: Queryable, mode: keyof typeof locks): Promise<void> {
  await locks[mode](tx, {});
}

type Delivery = ReturnType<typeof table<"webhookDelivery">>;

// The same conditions as the partial indexes.
export const isDue = (d: Delivery, at: Part): Sql => sql`${d.dueAt} > '-infinity' AND ${d.dueAt} <= ${at}`;
export const isFirst = (d: Delivery): Sql => sql`${d.state} = 'PENDING' AND ${d.dueAt} IS NOT NULL`;
export const isWaiting = (d: Delivery): Sql => sql`${d.state} = 'PENDING' AND ${d.dueAt} IS NULL`;

const f = table("webhookDelivery", "f");

export const joinFirst = (queue: { endpointId: Sql; subjectId: Sql }, taken?: Sql): Sql => sql`
  LEFT JOIN LATERAL (
    SELECT ${f.id} FROM ${f}
    WHERE ${f.endpointId} = ${queue.endpointId} AND ${f.subjectId} = ${queue.subjectId} AND ${isFirst(f)}
      ${taken === undefined ? empty : sql`AND ${f.id} NOT IN (SELECT id FROM ${taken})`}
    LIMIT 1) first ON true`;

const d = table("webhookDelivery", "d");
const n = table("webhookDelivery", "n");

// Another process may have promoted it. This form keeps the primary key as the only access path.
const stillWaiting = sql`CASE WHEN ${d.dueAt} IS NULL THEN ${d.state} = 'PENDING' ELSE false END`;

/**
 * SQL that makes the next delivery due in queues that lose their first to `taken` (id, endpoint_id, subject_id).
 * `fails`, of `taken`: whether the subject's last attempt failed.
 */
export const promoteNext = (taken: Sql, at: Part, fails = sql`false`): Sql => sql`
  ${update("webhookDelivery", "d", { dueAt: at, subjectFails: sql`queue.fails` })}
  FROM (SELECT DISTINCT endpoint_id, subject_id, ${fails} AS fails FROM ${taken}) queue
  CROSS JOIN LATERAL (
    SELECT ${n.id} FROM ${n}
    WHERE ${n.endpointId} = queue.endpoint_id AND ${n.subjectId} = queue.subject_id AND ${isWaiting(n)}
      AND ${n.id} NOT IN (SELECT id FROM ${taken})
    ORDER BY ${n.id} LIMIT 1) next
  ${joinFirst({ endpointId: sql`queue.endpoint_id`, subjectId: sql`queue.subject_id` }, taken)}
  WHERE ${d.id} = next.id AND first.id IS NULL AND ${stillWaiting}`;
