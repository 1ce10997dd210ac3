import type { Queryable } from "../platform/db.ts";

const daySeconds = 86_400;

// The oldest have the lowest numbers, so that one look at the front tells whether anything is old enough.
const sweepBatch = `
  WITH oldest AS (SELECT id, created_at FROM webhook_delivery ORDER BY id LIMIT $2),
  gone AS (DELETE FROM webhook_delivery d USING oldest WHERE d.id = oldest.id AND oldest.created_at < $1 RETURNING d.id),
  attempts AS (DELETE FROM webhook_attempt a USING gone WHERE a.delivery_id = gone.id)
  SELECT count(*)::int AS gone FROM gone`;

/** Forgets deliveries after the days they are kept for, and secrets after their overlap; answers how many deliveries. */
export async function sweepWebhooks(db: Queryable, { now, logDays, signal }: { now: Date; logDays: number; signal: AbortSignal }): Promise<number> {
  await db.query("DELETE FROM webhook_secret WHERE expires_at <= $1", [now]);
  const before = new Date(now.getTime() - logDays * daySeconds * 1000);
  const limit = 5000;
  let swept = 0;
  for (let gone = limit; gone === limit && !signal.aborted; swept += gone) {
    const { rows } = await db.query<{ gone: number }>({ name: "webhooks.sweep", text: sweepBatch, values: [before, limit] });
    gone = rows[0]!.gone;
  }
  return swept;
}
