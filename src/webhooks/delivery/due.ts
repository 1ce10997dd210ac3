import type { Prisma } from "../../../generated/prisma/client.ts";
import { fields, makeFind, pick, sql, table, type Sql } from "../../platform/database/sql.ts";
import { bodyNow } from "../payload.ts";
import { isDue } from "../queue.ts";

export type Due = { id: string } & Pick<
  Prisma.WebhookDeliveryModel,
  | "endpointId"
  | "messageId"
  | "eventType"
  | "isTest"
  | "body"
  | "attempts"
  | "attemptsSpent"
  | "traceparent"
  | "subjectFails"
>;

const d = table("webhookDelivery", "d");

export const dueFields = (delivery: typeof d): Sql =>
  fields<Due>({
    id: sql`${delivery.id}::text`,
    ...pick(delivery, "endpointId", "messageId", "eventType", "isTest"),
    ...pick(delivery, "attempts", "attemptsSpent", "traceparent", "subjectFails"),
    body: bodyNow(delivery),
  });

type DueQuery = {
  endpointIds: readonly string[];
  capacities: readonly number[];
  /** Whether the newest deliveries are asked for instead of the oldest. */
  newestFirst: readonly boolean[];
  now: Date;
  known: readonly string[];
};

/** The share of failing subjects while others are due: one delivery in four. */
const turnsOfFailing = 4;

export const findDue = makeFind<Due, DueQuery>(({ endpointIds, capacities, newestFirst, now, known }) => {
  const some = (fails: boolean, order: Sql, limit: Sql) => sql`(
    SELECT * FROM ${d}
    WHERE ${d.endpointId} = wanted.endpoint_id AND ${fails ? d.subjectFails : sql`NOT ${d.subjectFails}`}
      AND ${isDue(d, now)} AND ${d.id} <> ALL (${known}::bigint[])
    ORDER BY ${order} LIMIT ${limit})`;
  const oldest = sql`${d.dueAt}, ${d.id}`;
  const newest = sql`${d.dueAt} DESC, ${d.id} DESC`;
  const turn = sql`row_number() OVER (PARTITION BY ${d.subjectFails} ORDER BY ${oldest})`;
  return sql`
  SELECT ${dueFields(d)}
  FROM unnest(${endpointIds}::uuid[], ${capacities}::int[], ${newestFirst}::boolean[])
    AS wanted (endpoint_id, capacity, newest_first)
  CROSS JOIN LATERAL (
    SELECT d.* FROM (
      ${some(false, oldest, sql`CASE WHEN NOT newest_first THEN capacity ELSE 0 END`)} UNION ALL
      ${some(false, newest, sql`CASE WHEN newest_first THEN capacity ELSE 0 END`)} UNION ALL
      ${some(true, oldest, sql`capacity`)}) d
    ORDER BY ${turn} * CASE WHEN ${d.subjectFails} THEN ${turnsOfFailing} ELSE 1 END LIMIT capacity) d`;
}, "webhooks.findDue");
