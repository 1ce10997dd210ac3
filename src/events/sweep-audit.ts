import { removeInBatches } from "../platform/jobs/batches.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import type { Db } from "../platform/database/db.ts";
import { findRows, identifier, sql, statement, table, type Statement } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { dropAuditPartitions, listAuditPartitions, makeAuditPartitions } from "./audit-partitions.ts";

type Batch = { before: Date; last: Date; batch: number };

const a = table("audit", "a");
const gone = table("audit", "gone");

// Reads the oldest lines by index and deletes by primary key, whatever the statistics say. `last` skips dead rows that
// vacuum has not removed yet.
const sweepBatch = (partition: string): Statement<Batch> =>
  statement<Batch>(
    ({ before, last, batch }) => sql`
  WITH oldest AS MATERIALIZED (
    SELECT ${a.id}, ${a.at} FROM ${identifier(partition)} a WHERE ${a.at} >= ${last} ORDER BY ${a.at} LIMIT ${batch}),
  gone AS (
    DELETE FROM ${identifier(partition)} gone
    WHERE ${gone.id} = ANY (ARRAY(SELECT id FROM oldest WHERE at < ${before})) RETURNING ${gone.at})
  SELECT count(*)::int AS gone, max(at) AS last FROM gone`,
    `events.sweep_${partition}`,
  );

type SweepOptions = { signal: AbortSignal; batch?: number };

export async function sweepAudit(db: Db, before: Date, options: SweepOptions): Promise<number> {
  await dropAuditPartitions(db, before);
  let swept = 0;
  for (const { name, isOfMonth } of await listAuditPartitions(db.pool))
    if (!isOfMonth) swept += await sweepPartition(db, name, { ...options, before });
  return swept;
}

async function sweepPartition(
  db: Db,
  name: string,
  { before, signal, batch: most }: SweepOptions & { before: Date },
): Promise<number> {
  const sweep = sweepBatch(name);
  let last = new Date(0);
  const removeBatch = async (batch: number) => {
    const [row] = await findRows<{ gone: number; last: Date | null }, Batch>(db.pool, sweep, { before, last, batch });
    last = row!.last ?? last;
    return row!.gone;
  };
  return removeInBatches(signal, removeBatch, most);
}

type Deps = { db: Db; clock: Clock; auditDays: number };

export const makeAuditSweepJob = ({ db, clock, auditDays }: Deps): WorkerJob => ({
  name: "events.sweepAudit",
  everySeconds: 3600,
  async run(signal) {
    const now = clock();
    await makeAuditPartitions(db, now);
    await sweepAudit(db, addDays(now, -auditDays), { signal });
  },
});
