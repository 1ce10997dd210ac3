import { withTransaction, type Db } from "../platform/db.ts";
import { lockQueues, promoteNext } from "./queue.ts";

const daySeconds = 86_400;
const most = 1000;

// The oldest have the lowest numbers, so that one look at the front tells whether anything is old enough.
const sweepBatch = `
  WITH oldest AS (SELECT id, created_at FROM webhook_delivery WHERE id > $3 ORDER BY id LIMIT ${most}),
  gone AS (DELETE FROM webhook_delivery d USING oldest WHERE d.id = oldest.id AND oldest.created_at < $1 RETURNING d.id, d.endpoint_id, d.subject_id),
  attempts AS (DELETE FROM webhook_attempt a USING gone WHERE a.delivery_id = gone.id),
  promoted AS (${promoteNext("gone", "$2")})
  SELECT count(*)::int AS gone, coalesce(max(id), 0)::text AS last FROM gone`;

/** Forgets deliveries after the days they are kept for, and secrets after their overlap; answers how many deliveries. */
export async function sweepWebhooks(
  db: Pick<Db, "pool">,
  { now, logDays, signal }: { now: Date; logDays: number; signal: AbortSignal },
): Promise<number> {
  await db.pool.query("DELETE FROM webhook_secret WHERE expires_at <= $1", [now]);
  const before = new Date(now.getTime() - logDays * daySeconds * 1000);
  let swept = 0;
  for (let [gone, last] = [most, "0"]; gone === most && !signal.aborted; swept += gone) {
    ({ gone, last } = await withTransaction(db, async (tx) => {
      await lockQueues(tx, "exclusive");
      const { rows } = await tx.query<{ gone: number; last: string }>({
        name: "webhooks.sweep",
        text: sweepBatch,
        values: [before, now, last],
      });
      return rows[0]!;
    }));
  }
  return swept;
}
