import type { Prisma } from "../../../generated/prisma/client.ts";
import { fields, makeFind, sql, table, type Sql } from "../../platform/database/sql.ts";
import { bodyNow } from "../payload.ts";
import { isDue } from "../queue.ts";

export type Due = { id: string } & Pick<
  Prisma.WebhookDeliveryModel,
  "endpointId" | "messageId" | "eventType" | "isTest" | "body" | "attempts" | "attemptsSpent" | "traceparent"
>;

const d = table("webhookDelivery", "d");

export const dueFields = (delivery: typeof d): Sql =>
  fields<Due>({
    id: sql`${delivery.id}::text`,
    endpointId: delivery.endpointId,
    messageId: delivery.messageId,
    eventType: delivery.eventType,
    isTest: delivery.isTest,
    body: bodyNow(delivery),
    attempts: delivery.attempts,
    attemptsSpent: delivery.attemptsSpent,
    traceparent: delivery.traceparent,
  });

type DueQuery = { endpointIds: readonly string[]; capacities: readonly number[]; now: Date; known: readonly string[] };

export const findDue = makeFind<Due, DueQuery>(
  ({ endpointIds, capacities, now, known }) => sql`
  SELECT ${dueFields(d)}
  FROM unnest(${endpointIds}::uuid[], ${capacities}::int[]) AS wanted (endpoint_id, capacity)
  CROSS JOIN LATERAL (
    SELECT * FROM ${d}
    WHERE ${d.endpointId} = wanted.endpoint_id AND ${isDue(d, now)} AND ${d.id} <> ALL (${known}::bigint[])
    ORDER BY ${d.dueAt}, ${d.id} LIMIT wanted.capacity) d`,
  "webhooks.findDue",
);
