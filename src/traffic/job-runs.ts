import type { Queryable, RecordStore } from "../platform/database/db.ts";
import { columnNames, fields, findRows, insert, run, sql, statement, table } from "../platform/database/sql.ts";

/** Units: durationMs in milliseconds; `failures` are those since `doneAt`. */
export type JobRun = {
  name: string;
  at: Date;
  durationMs: number;
  outcome: "done" | "failed";
  doneAt: Date | null;
  failures: number;
};

type Columns = {
  [Name in "names" | "times" | "durations" | "outcomes" | "doneTimes" | "failures"]: readonly unknown[];
};

const job = table("jobRun");
const excluded = table("jobRun", "excluded");

const keepLatest = statement<Columns>(
  (given) => sql`
  ${insert(
    "jobRun",
    {
      name: sql`ran.name`,
      at: sql`ran.at`,
      durationMs: sql`ran.duration_ms`,
      outcome: sql`ran.outcome`,
      doneAt: sql`ran.done_at`,
      failures: sql`ran.failures`,
    },
    sql`FROM unnest(${given.names}::text[], ${given.times}::timestamptz[], ${given.durations}::int[],
      ${given.outcomes}::text[], ${given.doneTimes}::timestamptz[], ${given.failures}::int[])
      AS ran (name, at, duration_ms, outcome, done_at, failures) ORDER BY ran.name`,
  )}
  ON CONFLICT (${columnNames("jobRun", "name")}) DO UPDATE SET ${columnNames("jobRun", "at")} = ${excluded.at},
    ${columnNames("jobRun", "durationMs")} = ${excluded.durationMs},
    ${columnNames("jobRun", "outcome")} = ${excluded.outcome},
    ${columnNames("jobRun", "doneAt")} = coalesce(${excluded.doneAt}, ${job.doneAt}),
    ${columnNames("jobRun", "failures")} = ${excluded.failures}
      + CASE WHEN ${excluded.doneAt} IS NULL THEN ${job.failures} ELSE 0 END
  WHERE ${job.at} < ${excluded.at}`,
);

/** Writes when jobs last ran, where no other process has run them since. */
export async function writeJobRuns(db: Queryable, runs: readonly JobRun[]): Promise<void> {
  if (runs.length === 0) return;
  await run(db, keepLatest, {
    names: runs.map(({ name }) => name),
    times: runs.map(({ at }) => at),
    durations: runs.map(({ durationMs }) => durationMs),
    outcomes: runs.map(({ outcome }) => outcome),
    doneTimes: runs.map(({ doneAt }) => doneAt),
    failures: runs.map(({ failures }) => failures),
  });
}

/** When each job last ran, in whichever process, by name. */
export async function listJobRuns({ prisma }: RecordStore): Promise<JobRun[]> {
  return (await prisma.jobRun.findMany({ orderBy: { name: "asc" } })) as JobRun[];
}

const backup = "backup";

/** Records a backup of the database that began then, by the clock of the database. */
export const recordBackup = (
  db: Queryable,
  { begunAt, durationMs }: { begunAt: Date; durationMs: number },
): Promise<void> =>
  writeJobRuns(db, [{ name: backup, at: begunAt, durationMs, outcome: "done", doneAt: begunAt, failures: 0 }]);

type BackupAge = { ageSeconds: number };

const findBackup = statement<{ name: string }>(
  ({ name }) => sql`
  SELECT ${fields<BackupAge>({ ageSeconds: sql`extract(epoch FROM clock_timestamp() - ${job.at})::float8` })}
  FROM ${job} WHERE ${job.name} = ${name}`,
);

/** How long ago the last recorded backup began, by the clock of the database; infinite if there is none. */
export async function findBackupAge(db: Queryable): Promise<number> {
  const [found] = await findRows<BackupAge, { name: string }>(db, findBackup, { name: backup });
  return found?.ageSeconds ?? Infinity;
}
