import type { Queryable } from "../platform/database/db.ts";
import { fields, findRows, sql, statement, table } from "../platform/database/sql.ts";
import type { DeliveryState } from "./log.ts";

/** A delivery about a subject: when it was made and when it ended, and for which app. */
export type DeliveryOfSubject = { at: Date; finishedAt: Date | null; state: DeliveryState; clientId: string | null };

const d = table("webhookDelivery", "d");
const w = table("webhookEndpoint", "w");

type Asked = { subjectId: string; limit: number };

// Worded as the index is, which no statement of the queues can use: none of them leaves the tests out.
const selectOfSubject = statement<Asked>(
  ({ subjectId, limit }) => sql`
  SELECT ${fields<DeliveryOfSubject>({
    at: d.createdAt,
    finishedAt: d.finishedAt,
    state: d.state,
    clientId: sql`(SELECT ${w.clientId} FROM ${w} WHERE ${w.id} = ${d.endpointId})`,
  })}
  FROM ${d} WHERE ${d.subjectId} = ${subjectId} AND NOT ${d.isTest} ORDER BY ${d.id} DESC LIMIT ${limit}`,
);

/** The deliveries about one subject, the newest first; a test message is about none. */
export const listDeliveriesOf = (db: Queryable, asked: Asked): Promise<DeliveryOfSubject[]> =>
  findRows<DeliveryOfSubject, Asked>(db, selectOfSubject, asked);
