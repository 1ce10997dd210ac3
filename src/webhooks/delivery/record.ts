import { withTransaction, type Db, type Queryable } from "../../platform/db.ts";
import { lockQueues, promoteNext } from "../queue.ts";
import { unhurried } from "./lease.ts";

/** What became of one attempt. */
export type Result = {
  id: string;
  state: "DELIVERED" | "PENDING" | "FAILED";
  /** Of what is still pending. */
  dueAt: Date | null;
  at: Date;
  durationMs: number;
  status: number | null;
  error: string | null;
  answer: string | null;
};

// What another process delivered meanwhile stays delivered; what was given up because the endpoint was disabled is not taken up again;
// what has been asked for again waits for its turn.
const recordResults = `
  WITH result AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS r (id bigint, state text, "dueAt" timestamptz, at timestamptz, "durationMs" int, status int, error text, answer text)),
  changed AS (
    UPDATE webhook_delivery d SET attempts = d.attempts + 1, due_at = CASE WHEN d.due_at IS NOT NULL THEN r."dueAt" END,
      state = (CASE WHEN d.state = 'FAILED' AND r.state = 'PENDING' THEN 'FAILED' ELSE r.state END)::webhook_delivery_state,
      finished_at = CASE WHEN r.state <> 'PENDING' THEN $2 ELSE d.finished_at END
    FROM result r WHERE d.id = r.id AND (d.due_at IS NOT NULL OR d.state = 'FAILED')
    RETURNING d.id, d.endpoint_id, d.subject_id, d.state, d.attempts),
  taken AS (SELECT id, endpoint_id, subject_id FROM changed WHERE state <> 'PENDING'),
  promoted AS (${promoteNext("taken", "$2")})
  INSERT INTO webhook_attempt (delivery_id, number, at, duration_ms, status, error, answer)
  SELECT r.id, changed.attempts, r.at, r."durationMs", r.status, r.error, decode(r.answer, 'base64') FROM result r JOIN changed ON changed.id = r.id
  WHERE ${unhurried}`;

/** Writes down many attempts in one statement; where a delivery is done with, the next of its subject may be sent. */
export async function record(db: Pick<Db, "pool">, results: readonly Result[], now: Date): Promise<void> {
  await withTransaction(db, async (tx) => {
    await lockQueues(tx, "shared");
    await tx.query({ name: "webhooks.record", text: recordResults, values: [JSON.stringify(results), now] });
  });
}

export type Health = { id: string; failures: number; failingSince: Date | null };

const recordFailures = `
  UPDATE webhook_endpoint w SET failures = h.failures, failing_since = h."failingSince"
  FROM json_to_recordset($2::json) AS h (id uuid, failures int, "failingSince" timestamptz) WHERE w.id = h.id AND w.leased_by = $1`;

/** Keeps how endpoints fare, for as long as they are leased. */
export async function recordHealth(db: Queryable, holder: string, healths: readonly Health[]): Promise<void> {
  await db.query({ name: "webhooks.recordHealth", text: recordFailures, values: [holder, JSON.stringify(healths)] });
}
