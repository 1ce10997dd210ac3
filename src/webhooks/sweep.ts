import { addDays } from "../platform/clock.ts";
import { withTransaction, type PrismaDb } from "../platform/database/db.ts";
import { makeFindOne, sql, table } from "../platform/database/sql.ts";
import { lockQueues, promoteNext } from "./queue.ts";

const most = 1000;

const d = table("webhookDelivery", "d");
const a = table("webhookAttempt", "a");

type Batch = { before: Date; now: Date; after: string };

const sweepBatch = makeFindOne<{ gone: number; last: string }, Batch>(
  ({ before, now, after }) => sql`
  WITH oldest AS (SELECT ${d.id}, ${d.createdAt} FROM ${d} WHERE ${d.id} > ${after} ORDER BY ${d.id} LIMIT ${most}),
  gone AS (
    DELETE FROM ${d} USING oldest WHERE ${d.id} = oldest.id AND oldest.created_at < ${before}
    RETURNING ${d.id}, ${d.endpointId}, ${d.subjectId}),
  attempts AS (DELETE FROM ${a} USING gone WHERE ${a.deliveryId} = gone.id),
  promoted AS (${promoteNext(sql`gone`, now)})
  SELECT count(*)::int AS gone, coalesce(max(id), 0)::text AS last FROM gone`,
  "webhooks.sweep",
);

/** Removes old deliveries and expired secrets; returns the number of deliveries. Units: logDays in days of 24 hours. */
export async function sweepWebhooks(
  db: PrismaDb,
  { now, logDays, signal }: { now: Date; logDays: number; signal: AbortSignal },
): Promise<number> {
  await db.prisma.webhookSecret.deleteMany({ where: { expiresAt: { lte: now } } });
  const before = addDays(now, -logDays);
  let swept = 0;
  for (let [gone, last] = [most, "0"]; gone === most && !signal.aborted; swept += gone) {
    const after = last;
    ({ gone, last } = await withTransaction(db, async (tx) => {
      await lockQueues(tx, "exclusive");
      return sweepBatch(tx, { before, now, after });
    }));
  }
  return swept;
}
