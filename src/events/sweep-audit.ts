import type { Clock } from "../platform/clock.ts";
import type { Db } from "../platform/db.ts";
import type { WorkerJob } from "../platform/worker.ts";

// Looks at the oldest without a condition on their age, and deletes by primary key: PostgreSQL reads both by index,
// whatever its statistics say. $2 passes over what an earlier batch deleted and vacuum has not removed yet.
const sweepBatch = `
  WITH oldest AS MATERIALIZED (SELECT id, at FROM audit WHERE at >= $2 ORDER BY at LIMIT $3),
  gone AS (DELETE FROM audit WHERE id = ANY (ARRAY(SELECT id FROM oldest WHERE at < $1)) RETURNING at)
  SELECT count(*)::int AS gone, max(at) AS last FROM gone`;

type Asked = { signal: AbortSignal; batch?: number };

/** Deletes audit lines older than `before`, each batch in a transaction of its own; answers how many there were. */
export async function sweepAudit(db: Pick<Db, "pool">, before: Date, { signal, batch = 5000 }: Asked): Promise<number> {
  let swept = 0;
  for (let [gone, last] = [batch, new Date(0)]; gone === batch && !signal.aborted; swept += gone) {
    const { rows } = await db.pool.query<{ gone: number; last: Date | null }>({
      name: "events.sweepAudit",
      text: sweepBatch,
      values: [before, last, batch],
    });
    gone = rows[0]!.gone;
    last = rows[0]!.last ?? last;
  }
  return swept;
}

/** Units: days of 24 hours. */
export const makeAuditSweepJob = ({
  db,
  clock,
  auditDays,
}: {
  db: Pick<Db, "pool">;
  clock: Clock;
  auditDays: number;
}): WorkerJob => ({
  name: "events.sweepAudit",
  everySeconds: 3600,
  run: async (signal) => void (await sweepAudit(db, new Date(clock().getTime() - auditDays * 86_400_000), { signal })),
});
