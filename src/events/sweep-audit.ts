import { addDays, type Clock } from "../platform/clock.ts";
import type { Db } from "../platform/db.ts";
import { findRows, sql, statement, table } from "../platform/sql.ts";
import type { WorkerJob } from "../platform/worker.ts";

type Given = { before: Date; last: Date; batch: number };

const a = table("audit", "a");
const gone = table("audit", "gone");

// Looks at the oldest without a condition on their age, and deletes by primary key: PostgreSQL reads both by index,
// whatever its statistics say. `last` passes over what an earlier batch deleted and vacuum has not removed yet.
const sweepBatch = statement<Given>(
  ({ before, last, batch }) => sql`
  WITH oldest AS MATERIALIZED (
    SELECT ${a.id}, ${a.at} FROM ${a} WHERE ${a.at} >= ${last} ORDER BY ${a.at} LIMIT ${batch}),
  gone AS (
    DELETE FROM ${gone} WHERE ${gone.id} = ANY (ARRAY(SELECT id FROM oldest WHERE at < ${before})) RETURNING ${gone.at})
  SELECT count(*)::int AS gone, max(at) AS last FROM gone`,
  "events.sweepAudit",
);

type Asked = { signal: AbortSignal; batch?: number };

/** Deletes audit lines older than `before`, each batch in a transaction of its own; answers how many there were. */
export async function sweepAudit(db: Pick<Db, "pool">, before: Date, { signal, batch = 5000 }: Asked): Promise<number> {
  let swept = 0;
  for (let [count, last] = [batch, new Date(0)]; count === batch && !signal.aborted; swept += count) {
    type Swept = { gone: number; last: Date | null };
    const [row] = await findRows<Swept, Given>(db.pool, sweepBatch, { before, last, batch });
    count = row!.gone;
    last = row!.last ?? last;
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
  run: async (signal) => void (await sweepAudit(db, addDays(clock(), -auditDays), { signal })),
});
