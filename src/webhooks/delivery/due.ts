import type { Queryable } from "../../platform/db.ts";
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
};

type Wanted = { endpointId: string; room: number };

const selectDue = `
  SELECT d.id::text, d.endpoint_id AS "endpointId", d.message_id AS "messageId", d.event_type AS "eventType", d.is_test AS "isTest", d.body,
    d.attempts, d.attempts_spent AS "attemptsSpent"
  FROM unnest($1::uuid[], $2::int[]) AS wanted (endpoint_id, room)
  CROSS JOIN LATERAL (
    SELECT * FROM webhook_delivery d
    WHERE d.endpoint_id = wanted.endpoint_id AND ${isDue("d", "$3")} AND d.id <> ALL ($4::bigint[])
    ORDER BY d.due_at, d.id LIMIT wanted.room) d`;

/** Finds what is due for leased endpoints, without what is `known` to be under way. */
export async function findDue(
  db: Queryable,
  { wanted, known, now }: { wanted: readonly Wanted[]; known: readonly string[]; now: Date },
): Promise<Due[]> {
  const values = [wanted.map(({ endpointId }) => endpointId), wanted.map(({ room }) => room), now, known];
  const { rows } = await db.query<Due>({ name: "webhooks.findDue", text: selectDue, values });
  return rows;
}
