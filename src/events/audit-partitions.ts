import { addDays, type Clock } from "../platform/clock.ts";
import { withTransaction, type Db } from "../platform/database/db.ts";
import { identifier, literal, makeFind, makeFindOne, run, sql, statement, table } from "../platform/database/sql.ts";
import type { Queryable, Sql } from "../platform/database/sql.ts";
import { workInBatches } from "../platform/jobs/batches.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";

type AuditPartition = { name: string; until: Date | null; isOfMonth: boolean };

const audit = table("audit");
const monthName = /^audit_\d{4}_\d{2}$/;

const findPartitions = makeFind<Omit<AuditPartition, "isOfMonth">>()`SELECT c.relname AS name,
    substring(pg_get_expr(c.relpartbound, c.oid) FROM ${literal("TO \\('([^']+)'\\)")})::timestamptz AS until
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = ${literal("audit")}::regclass ORDER BY until`;

export const listAuditPartitions = async (db: Queryable): Promise<AuditPartition[]> =>
  (await findPartitions(db, {})).map((row) => ({ ...row, isOfMonth: monthName.test(row.name) }));

const monthOf = (at: Date, later = 0): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later));

const aheadDays = 90;
/** Caps each run in case the clock is years ahead. */
const mostAtOnce = 24;

export async function makeAuditPartitions(db: Db, now: Date): Promise<string[]> {
  const made: string[] = [];
  const until = addDays(now, aheadDays);
  const ends = (await listAuditPartitions(db.pool)).flatMap(({ until: end }) => (end === null ? [] : [end.getTime()]));
  let from = ends.length === 0 ? monthOf(now) : new Date(Math.max(...ends));
  for (let count = 0; from < until && count < mostAtOnce; count++) {
    const to = monthOf(from, 1);
    const name = `audit_${from.toISOString().slice(0, 7).replace("-", "_")}`;
    if (await makePartition(db, { name, from, to })) made.push(name);
    from = to;
  }
  return made;
}

// A longer wait for a reader would block writers too; the next run tries again.
const setLockTimeout = statement()`SET LOCAL lock_timeout = '100ms'`;

const lock = statement()`LOCK TABLE ${audit} IN SHARE UPDATE EXCLUSIVE MODE`;

async function alter(db: Db, steps: readonly Sql[], expected: readonly string[]): Promise<boolean> {
  try {
    await withTransaction(db, async (tx) => {
      for (const step of [setLockTimeout, lock, ...steps.map((made) => statement(() => made))]) await run(tx, step, {});
    });
    return true;
  } catch (error) {
    if ([lockNotAvailable, ...expected].includes((error as { code?: string }).code ?? "")) return false;
    throw error;
  }
}

const lockNotAvailable = "55P03";
/** The partition exists already; the default partition has lines of that month. */
const duplicateOrOverlapping = ["42P07", "23514"];
const undefinedTable = "42P01";

// Created separately and then attached: CREATE TABLE … PARTITION OF would block all writers.
function makePartition(db: Db, { name, from, to }: { name: string; from: Date; to: Date }): Promise<boolean> {
  const partition = identifier(name);
  const [first, end] = [literal(from.toISOString()), literal(to.toISOString())];
  const steps = [
    sql`CREATE TABLE ${partition} (LIKE ${audit} INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (id))`,
    sql`ALTER TABLE ${audit} ATTACH PARTITION ${partition} FOR VALUES FROM (${first}) TO (${end})`,
  ];
  return alter(db, steps, duplicateOrOverlapping);
}

export async function dropAuditPartitions(db: Db, before: Date): Promise<string[]> {
  const dropped: string[] = [];
  for (const { name, until } of await listAuditPartitions(db.pool))
    if (until !== null && until <= before && (await alter(db, [sql`DROP TABLE ${identifier(name)}`], [undefinedTable])))
      dropped.push(name);
  return dropped;
}

type Batch = { before: Date; last: Date; batch: number };

const a = table("audit", "a");
const gone = table("audit", "gone");

// Reads the oldest lines by index and deletes by primary key, whatever the statistics say. `last` skips dead rows that
// vacuum has not removed yet.
const sweepBatch = (partition: string) =>
  makeFindOne<{ gone: number; last: Date | null }, Batch>(`events.sweep_${partition}`)`
  WITH oldest AS MATERIALIZED (
    SELECT ${a.id}, ${a.at} FROM ${identifier(partition)} a WHERE ${a.at} >= ${"last"} ORDER BY ${a.at}
      LIMIT ${"batch"}),
  gone AS (
    DELETE FROM ${identifier(partition)} gone
    WHERE ${gone.id} = ANY (ARRAY(SELECT id FROM oldest WHERE at < ${"before"})) RETURNING ${gone.at})
  SELECT count(*)::int AS gone, max(at) AS last FROM gone`;

type SweepOptions = { signal: AbortSignal; batch?: number };

export async function sweepAudit(db: Db, before: Date, options: SweepOptions): Promise<number> {
  await dropAuditPartitions(db, before);
  let swept = 0;
  for (const { name, isOfMonth } of await listAuditPartitions(db.pool))
    if (!isOfMonth) swept += await sweepPartition(db, name, { ...options, before });
  return swept;
}

async function sweepPartition(db: Db, name: string, { before, signal, batch: most }: SweepOptions & { before: Date }) {
  const sweep = sweepBatch(name);
  let last = new Date(0);
  const removeBatch = async (batch: number) => {
    const swept = await sweep(db.pool, { before, last, batch });
    last = swept.last ?? last;
    return swept.gone;
  };
  return workInBatches(signal, removeBatch, most);
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
