import { withTransaction, type Db } from "../../platform/database/db.ts";
import { insert, makeRun, sql, table, update, asynchronous } from "../../platform/database/sql.ts";
import { lockQueues, promoteNext } from "../queue.ts";

export type Result = {
  id: string;
  state: "DELIVERED" | "PENDING" | "FAILED";
  dueAt: Date | null;
  at: Date;
  durationMs: number;
  status: number | null;
  error: string | null;
  answer: string | null;
};

const d = table("webhookDelivery", "d");
const w = table("webhookEndpoint", "w");

// Meanwhile another process may have delivered it, its endpoint may be disabled (then it stays dropped), or a
// redelivery may be requested (then it waits for its turn).
const recordResults = makeRun<{ results: string; now: Date }>(
  ({ results, now }) => sql`
  WITH result AS MATERIALIZED (
    SELECT * FROM json_to_recordset(${results}::json) AS r (
      id bigint, state text, "dueAt" timestamptz, at timestamptz, "durationMs" int,
      status int, error text, answer text)),
  changed AS (
    ${update("webhookDelivery", "d", {
      attempts: sql`${d.attempts} + 1`,
      dueAt: sql`CASE WHEN ${d.dueAt} IS NOT NULL THEN r."dueAt" END`,
      subjectFails: sql`r.state <> 'DELIVERED'`,
      state: sql`(CASE WHEN ${d.state} = 'FAILED' AND r.state = 'PENDING' THEN 'FAILED' ELSE r.state END)
        ::webhook_delivery_state`,
      finishedAt: sql`CASE WHEN r.state <> 'PENDING' THEN ${now} ELSE ${d.finishedAt} END`,
    })}
    FROM result r WHERE ${d.id} = r.id AND (${d.dueAt} IS NOT NULL OR ${d.state} = 'FAILED')
    RETURNING ${d.id}, ${d.endpointId}, ${d.subjectId}, ${d.subjectFails}, ${d.state}, ${d.attempts}),
  taken AS (SELECT id, endpoint_id, subject_id, subject_fails FROM changed WHERE state <> 'PENDING'),
  promoted AS (${promoteNext(sql`taken`, now, sql`subject_fails`)})
  ${insert(
    "webhookAttempt",
    {
      deliveryId: sql`r.id`,
      number: sql`changed.attempts`,
      at: sql`r.at`,
      durationMs: sql`r."durationMs"`,
      status: sql`r.status`,
      error: sql`r.error`,
      answer: sql`decode(r.answer, 'base64')`,
    },
    // After a crash some events are sent again.
    sql`FROM result r JOIN changed ON changed.id = r.id WHERE ${asynchronous}`,
  )}`,
  "webhooks.record",
);

export async function record(db: Db, results: readonly Result[], now: Date): Promise<void> {
  await withTransaction(db, async (tx) => {
    await lockQueues(tx, "shared");
    await recordResults(tx, { results: JSON.stringify(results), now });
  });
}

export const recordHealth = makeRun<{ holder: string; healths: string }>("webhooks.recordHealth")`
  ${update("webhookEndpoint", "w", { failures: sql`h.failures`, failingSince: sql`h."failingSince"` })}
  FROM json_to_recordset(${"healths"}::json) AS h (id uuid, failures int, "failingSince" timestamptz)
  WHERE ${w.id} = h.id AND ${w.leasedBy} = ${"holder"}`;
