import type { Prisma } from "../../generated/prisma/client.ts";
import type { RecordStore } from "../platform/database/db.ts";
import {
  columnNames,
  fields,
  insert,
  makeFind,
  makeRun,
  sql,
  table,
  tableRows,
  toJsonRows,
} from "../platform/database/sql.ts";
import type { Queryable } from "../platform/database/sql.ts";

export type JobRun = Omit<Prisma.JobRunModel, "outcome"> & { outcome: "done" | "failed" };

const job = table("jobRun");
const excluded = table("jobRun", "excluded");

const keepLatest = makeRun<{ runs: string }>(({ runs }) => {
  const ran = tableRows(runs, "ran", "jobRun");
  return sql`
  ${insert("jobRun", ran, sql`FROM ${ran} ORDER BY ${ran.name}`)}
  ON CONFLICT (${columnNames("jobRun", "name")}) DO UPDATE SET ${columnNames("jobRun", "at")} = ${excluded.at},
    ${columnNames("jobRun", "durationMs")} = ${excluded.durationMs},
    ${columnNames("jobRun", "outcome")} = ${excluded.outcome},
    ${columnNames("jobRun", "doneAt")} = coalesce(${excluded.doneAt}, ${job.doneAt}),
    ${columnNames("jobRun", "failures")} = ${excluded.failures}
      + CASE WHEN ${excluded.doneAt} IS NULL THEN ${job.failures} ELSE 0 END
  WHERE ${job.at} < ${excluded.at}`;
});

/** Records runs, unless another process has run the job since. */
export async function writeJobRuns(db: Queryable, runs: readonly JobRun[]): Promise<void> {
  if (runs.length > 0) await keepLatest(db, { runs: toJsonRows("jobRun", runs) });
}

export async function listJobRuns({ prisma }: RecordStore): Promise<JobRun[]> {
  return (await prisma.jobRun.findMany({ orderBy: { name: "asc" } })) as JobRun[];
}

const backup = "backup";

/** `begunAt` is the database's time. */
export const recordBackup = (db: Queryable, { begunAt, durationMs }: { begunAt: Date; durationMs: number }) =>
  writeJobRuns(db, [{ name: backup, at: begunAt, durationMs, outcome: "done", doneAt: begunAt, failures: 0 }]);

type BackupAge = { ageSeconds: number };

const findBackup = makeFind<BackupAge, { name: string }>()`
  SELECT ${fields<BackupAge>({ ageSeconds: sql`extract(epoch FROM clock_timestamp() - ${job.at})::float8` })}
  FROM ${job} WHERE ${job.name} = ${"name"}`;

export async function findBackupAge(db: Queryable): Promise<number> {
  const [age] = await findBackup(db, { name: backup });
  return age?.ageSeconds ?? Infinity;
}
