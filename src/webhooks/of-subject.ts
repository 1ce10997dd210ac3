import type { Queryable } from "../platform/database/db.ts";
import { fields, findRows, sql, statement, table } from "../platform/database/sql.ts";
import type { DeliveryState } from "./log.ts";

export type DeliveryOfSubject = { at: Date; finishedAt: Date | null; state: DeliveryState; clientId: string | null };

const d = table("webhookDelivery", "d");
const w = table("webhookEndpoint", "w");

type SubjectQuery = { subjectId: string; limit: number };

// The same condition as the index.
const selectOfSubject = statement<SubjectQuery>(
  ({ subjectId, limit }) => sql`
  SELECT ${fields<DeliveryOfSubject>({
    at: d.createdAt,
    finishedAt: d.finishedAt,
    state: d.state,
    clientId: sql`(SELECT ${w.clientId} FROM ${w} WHERE ${w.id} = ${d.endpointId})`,
  })}
  FROM ${d} WHERE ${d.subjectId} = ${subjectId} AND NOT ${d.isTest} ORDER BY ${d.id} DESC LIMIT ${limit}`,
);

/** Newest first; without test events. */
export const listDeliveriesOf = (db: Queryable, query: SubjectQuery): Promise<DeliveryOfSubject[]> =>
  findRows<DeliveryOfSubject, SubjectQuery>(db, selectOfSubject, query);
