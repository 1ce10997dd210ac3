import { fields, findRows, sql, statement, table, type Sql, type Queryable } from "../../platform/database/sql.ts";
import { isDue } from "../queue.ts";

export type Due = {
  id: string;
  endpointId: string;
  messageId: string;
  eventType: string;
  isTest: boolean;
  body: string;
  attempts: number;
  attemptsSpent: number;
  traceparent: string | null;
};

type Wanted = { endpointId: string; capacity: number };

const d = table("webhookDelivery", "d");

export const dueFields = (delivery: typeof d): Sql =>
  fields<Due>({
    id: sql`${delivery.id}::text`,
    endpointId: delivery.endpointId,
    messageId: delivery.messageId,
    eventType: delivery.eventType,
    isTest: delivery.isTest,
    body: delivery.body,
    attempts: delivery.attempts,
    attemptsSpent: delivery.attemptsSpent,
    traceparent: delivery.traceparent,
  });

type DueQuery = { endpointIds: string[]; capacities: number[]; now: Date; known: readonly string[] };

const selectDue = statement<DueQuery>(
  ({ endpointIds, capacities, now, known }) => sql`
  SELECT ${dueFields(d)}
  FROM unnest(${endpointIds}::uuid[], ${capacities}::int[]) AS wanted (endpoint_id, capacity)
  CROSS JOIN LATERAL (
    SELECT * FROM ${d}
    WHERE ${d.endpointId} = wanted.endpoint_id AND ${isDue(d, now)} AND ${d.id} <> ALL (${known}::bigint[])
    ORDER BY ${d.dueAt}, ${d.id} LIMIT wanted.capacity) d`,
  "webhooks.findDue",
);

export function findDue(
  db: Queryable,
  { wanted, known, now }: { wanted: readonly Wanted[]; known: readonly string[]; now: Date },
): Promise<Due[]> {
  const endpointIds = wanted.map(({ endpointId }) => endpointId);
  return findRows<Due, DueQuery>(db, selectDue, {
    endpointIds,
    capacities: wanted.map(({ capacity }) => capacity),
    now,
    known,
  });
}
