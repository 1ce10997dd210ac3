import { addDays } from "../platform/clock.ts";
import { withTransaction, type Db, type Queryable } from "../platform/database/db.ts";
import { findRows, identifier, literal, run, sql, statement, table, type Sql } from "../platform/database/sql.ts";

/**
 * A partition of the audit log.
 *
 * Shape: `until` is the first time that is no longer in it, null of the one for what no other takes; lines of one that
 *        is not of a month are deleted by age, one of a month goes as a whole.
 */
export type AuditPartition = { name: string; until: Date | null; isOfMonth: boolean };

const audit = table("audit");
const monthName = /^audit_\d{4}_\d{2}$/;

const findPartitions = statement(
  () => sql`SELECT c.relname AS name,
    substring(pg_get_expr(c.relpartbound, c.oid) FROM ${literal("TO \\('([^']+)'\\)")})::timestamptz AS until
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = ${literal("audit")}::regclass ORDER BY until`,
);

/** Shape: the oldest first; the one for what no other takes last. */
export async function listAuditPartitions(db: Queryable): Promise<AuditPartition[]> {
  const rows = await findRows<Omit<AuditPartition, "isOfMonth">>(db, findPartitions, {});
  return rows.map((row) => ({ ...row, isOfMonth: monthName.test(row.name) }));
}

const monthOf = (at: Date, later = 0): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later));

const aheadDays = 90;
/** Of a clock that is years ahead, no more are made at a time. */
const mostAtOnce = 24;

/**
 * Makes the partitions of the months that are to come; answers their names.
 *
 * Shape: a month of which lines have come already, because nobody made its partition in time, goes without.
 */
export async function makeAuditPartitions(db: Pick<Db, "pool">, now: Date): Promise<string[]> {
  const made: string[] = [];
  const until = addDays(now, aheadDays);
  const partitions = await listAuditPartitions(db.pool);
  const ends = partitions.flatMap(({ until: end }) => (end === null ? [] : [end.getTime()]));
  let from = ends.length === 0 ? monthOf(now) : new Date(Math.max(...ends));
  for (let count = 0; from < until && count < mostAtOnce; count++) {
    const to = monthOf(from, 1);
    const name = `audit_${from.toISOString().slice(0, 7).replace("-", "_")}`;
    if (await makePartition(db, { name, from, to })) made.push(name);
    from = to;
  }
  return made;
}

// Where somebody reads for longer than this, the others that write would wait for both: it is tried at the next run.
const setPatience = statement(() => sql`SET LOCAL lock_timeout = '100ms'`);

const lock = statement(() => sql`LOCK TABLE ${audit} IN SHARE UPDATE EXCLUSIVE MODE`);

/** Answers whether the table was altered: not where a lock is not to be had, or where `refusals` came of it. */
async function alter(db: Pick<Db, "pool">, steps: readonly Sql[], refusals: readonly string[]): Promise<boolean> {
  try {
    await withTransaction(db, async (tx) => {
      for (const step of [setPatience, lock, ...steps.map((made) => statement(() => made))]) await run(tx, step, {});
    });
    return true;
  } catch (error) {
    if ([lockNotAvailable, ...refusals].includes((error as { code?: string }).code ?? "")) return false;
    throw error;
  }
}

const lockNotAvailable = "55P03";
/** Another process has made it; the partition for all else has lines of that month. */
const refusalsOfMaking = ["42P07", "23514"];
const goneAlready = "42P01";

// Made beside the log and then attached, because CREATE TABLE … PARTITION OF keeps everybody from writing.
function makePartition(
  db: Pick<Db, "pool">,
  { name, from, to }: { name: string; from: Date; to: Date },
): Promise<boolean> {
  const partition = identifier(name);
  const [first, end] = [literal(from.toISOString()), literal(to.toISOString())];
  const steps = [
    sql`CREATE TABLE ${partition} (LIKE ${audit} INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (id))`,
    sql`ALTER TABLE ${audit} ATTACH PARTITION ${partition} FOR VALUES FROM (${first}) TO (${end})`,
  ];
  return alter(db, steps, refusalsOfMaking);
}

/** Drops the partitions that have no line of `before` or later; answers their names. */
export async function dropAuditPartitions(db: Pick<Db, "pool">, before: Date): Promise<string[]> {
  const dropped: string[] = [];
  for (const { name, until } of await listAuditPartitions(db.pool))
    if (until !== null && until <= before && (await alter(db, [sql`DROP TABLE ${identifier(name)}`], [goneAlready])))
      dropped.push(name);
  return dropped;
}
