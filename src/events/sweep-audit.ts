import { addDays, type Clock } from "../platform/clock.ts";
import type { Db } from "../platform/database/db.ts";
import { findRows, identifier, sql, statement, table, type Statement } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { dropAuditPartitions, listAuditPartitions, makeAuditPartitions } from "./audit-partitions.ts";

type Given = { before: Date; last: Date; batch: number };
type Swept = { gone: number; last: Date | null };

const a = table("audit", "a");
const gone = table("audit", "gone");

// Looks at the oldest without a condition on their age, and deletes by primary key: PostgreSQL reads both by index,
// whatever its statistics say. `last` passes over what an earlier batch deleted and vacuum has not removed yet.
const sweepBatch = (partition: string): Statement<Given> =>
  statement<Given>(
    ({ before, last, batch }) => sql`
  WITH oldest AS MATERIALIZED (
    SELECT ${a.id}, ${a.at} FROM ${identifier(partition)} a WHERE ${a.at} >= ${last} ORDER BY ${a.at} LIMIT ${batch}),
  gone AS (
    DELETE FROM ${identifier(partition)} gone
    WHERE ${gone.id} = ANY (ARRAY(SELECT id FROM oldest WHERE at < ${before})) RETURNING ${gone.at})
  SELECT count(*)::int AS gone, max(at) AS last FROM gone`,
    `events.sweep_${partition}`,
  );

type Asked = { signal: AbortSignal; batch?: number };

/**
 * Removes audit lines older than `before`: the partition of a month with its last line, all else by age, each batch in
 * a transaction of its own. Answers how many lines were deleted by age.
 */
export async function sweepAudit(db: Pick<Db, "pool">, before: Date, asked: Asked): Promise<number> {
  await dropAuditPartitions(db, before);
  let swept = 0;
  for (const { name, isOfMonth } of await listAuditPartitions(db.pool))
    if (!isOfMonth) swept += await sweepPartition(db, name, { ...asked, before });
  return swept;
}

async function sweepPartition(
  db: Pick<Db, "pool">,
  name: string,
  { before, signal, batch = 5000 }: Asked & { before: Date },
): Promise<number> {
  const sweep = sweepBatch(name);
  let swept = 0;
  for (let [count, last] = [batch, new Date(0)]; count === batch && !signal.aborted; swept += count) {
    const [row] = await findRows<Swept, Given>(db.pool, sweep, { before, last, batch });
    count = row!.gone;
    last = row!.last ?? last;
  }
  return swept;
}

/** Makes the partitions of the months to come, and removes what is old. Units: days of 24 hours. */
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
  async run(signal) {
    const now = clock();
    await makeAuditPartitions(db, now);
    await sweepAudit(db, addDays(now, -auditDays), { signal });
  },
});
