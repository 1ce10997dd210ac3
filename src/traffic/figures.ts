import type { Queryable } from "../platform/database/db.ts";
import { columnNames, fields, findRows, insert, run, sql, statement, table } from "../platform/database/sql.ts";

export const metrics = ["signIns", "tokens", "apiCalls", "refusals", "deliveries"] as const;
export const steps = ["HOUR", "DAY"] as const;
export type Metric = (typeof metrics)[number];
export type FigureStep = (typeof steps)[number];

/** Whose figures: of an app, of a school, or of all of the service. */
export type Subject = `app:${string}` | `school:${string}` | "";

export type Counted = { metric: Metric; subject: Subject; outcome: string; hour: Date; count: number };

type Columns = { [Name in "metrics" | "subjects" | "outcomes" | "hours" | "counts"]: readonly unknown[] };

const f = table("figure", "f");
const excluded = table("figure", "excluded");
const app = table("app", "app");

// Sorted, so that two processes never wait for each other's rows crosswise. Apps that were deleted are left out.
const addCounts = statement<Columns>(
  (given) => sql`
  ${insert(
    "figure",
    {
      metric: sql`summed.metric`,
      step: sql`summed.step`,
      subject: sql`summed.subject`,
      at: sql`summed.at`,
      outcome: sql`summed.outcome`,
      count: sql`summed.count`,
    },
    sql`FROM (
    SELECT counted.metric, step.step, counted.subject, date_trunc(step.step, counted.hour) AS at, counted.outcome,
      sum(counted.count) AS count
    FROM unnest(${given.metrics}::text[], ${given.subjects}::text[], ${given.outcomes}::text[],
      ${given.hours}::timestamptz[], ${given.counts}::bigint[]) AS counted (metric, subject, outcome, hour, count)
    CROSS JOIN (VALUES ('HOUR'), ('DAY')) AS step (step)
    WHERE counted.subject NOT LIKE 'app:%'
      OR EXISTS (SELECT FROM ${app} WHERE ${app.clientId} = substr(counted.subject, 5))
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5) summed`,
  )}
  ON CONFLICT (${columnNames("figure", "metric", "step", "subject", "at", "outcome")})
  DO UPDATE SET ${columnNames("figure", "count")} = figure.count + ${excluded.count}`,
);

/** Adds counts to those of their hours and days. */
export async function writeCounts(db: Queryable, counted: readonly Counted[]): Promise<void> {
  if (counted.length === 0) return;
  await run(db, addCounts, {
    metrics: counted.map(({ metric }) => metric),
    subjects: counted.map(({ subject }) => subject),
    outcomes: counted.map(({ outcome }) => outcome),
    hours: counted.map(({ hour }) => hour),
    counts: counted.map(({ count }) => count),
  });
}

export type FiguresAsked = {
  metric: Metric;
  step: FigureStep;
  subjects: readonly Subject[];
  /** The first time, and the one after the last. */
  from: Date;
  until: Date;
};

/** Shape: an hour or a day, by its beginning, in which something was counted. */
export type FigurePoint = { at: Date; outcome: string; count: number };

const selectFigures = statement<FiguresAsked>(
  ({ metric, step, subjects, from, until }) => sql`
  SELECT ${fields<FigurePoint>({ at: f.at, outcome: f.outcome, count: sql`sum(${f.count})::float8` })}
  FROM ${f} WHERE ${f.metric} = ${metric} AND ${f.step} = ${step} AND ${f.subject} = ANY (${subjects}::text[])
    AND ${f.at} >= ${from} AND ${f.at} < ${until}
  GROUP BY ${f.at}, ${f.outcome} ORDER BY ${f.at}, ${f.outcome}`,
);

/** The figures of a time, of several apps or schools together. */
export const findFigures = (db: Queryable, asked: FiguresAsked): Promise<FigurePoint[]> =>
  findRows<FigurePoint, FiguresAsked>(db, selectFigures, asked);

type Old = { step: FigureStep; before: Date; batch: number };

const deleteOld = statement<Old>(
  ({ step, before, batch }) => sql`DELETE FROM ${f} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${f} WHERE ${f.step} = ${step} AND ${f.at} < ${before} ORDER BY ${f.at} LIMIT ${batch}))`,
  "traffic.sweepFigures",
);

/** Deletes one batch of what is older than it is kept. */
export const deleteFigures = (db: Queryable, given: Old): Promise<number> => run(db, deleteOld, given);

const deleteOf = statement<{ subject: Subject; metrics: readonly Metric[]; steps: readonly FigureStep[] }>(
  (given) => sql`DELETE FROM ${f} WHERE ${f.metric} = ANY (${given.metrics}::text[])
    AND ${f.step} = ANY (${given.steps}::text[]) AND ${f.subject} = ${given.subject}`,
);

/** Deletes all figures of one subject. */
export const deleteFiguresOf = (db: Queryable, subject: Subject): Promise<number> =>
  run(db, deleteOf, { subject, metrics, steps });
