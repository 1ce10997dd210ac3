import { columnNames, fields, insert, jsonRows, makeFind, makeRun, sql, table } from "../platform/database/sql.ts";
import type { Queryable } from "../platform/database/sql.ts";

const metrics = ["signIns", "passwordSignIns", "tokens", "apiCalls", "refusals", "deliveries"] as const;
const steps = ["HOUR", "DAY"] as const;
export type Metric = (typeof metrics)[number];
export type FigureStep = (typeof steps)[number];

/** An app, a school, or the whole service (""). */
export type Subject = `app:${string}` | `school:${string}` | "";

export type Counted = { metric: Metric; subject: Subject; outcome: string; hour: Date; count: number };

const f = table("figure", "f");
const excluded = table("figure", "excluded");
const app = table("app", "app");

const types = { metric: "text", subject: "text", outcome: "text", hour: "timestamptz", count: "bigint" } as const;

// Sorted, so that two processes do not deadlock. Deleted apps are left out.
const addCounts = makeRun<{ counted: string }>((params) => {
  const { from, columns: counted } = jsonRows(params.counted, "counted", types);
  return sql`
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
    SELECT ${counted.metric}, step.step, ${counted.subject}, date_trunc(step.step, ${counted.hour}) AS at,
      ${counted.outcome}, sum(${counted.count}) AS count
    FROM ${from} CROSS JOIN (VALUES ('HOUR'), ('DAY')) AS step (step)
    WHERE ${counted.subject} NOT LIKE 'app:%'
      OR EXISTS (SELECT FROM ${app} WHERE ${app.clientId} = substr(${counted.subject}, 5))
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5) summed`,
  )}
  ON CONFLICT (${columnNames("figure", "metric", "step", "subject", "at", "outcome")})
  DO UPDATE SET ${columnNames("figure", "count")} = figure.count + ${excluded.count}`;
});

export async function writeCounts(db: Queryable, counted: readonly Counted[]): Promise<void> {
  if (counted.length > 0) await addCounts(db, { counted: JSON.stringify(counted) });
}

type FigureQuery = {
  metric: Metric;
  step: FigureStep;
  subjects: readonly Subject[];
  from: Date;
  until: Date;
};

type FigurePoint = { at: Date; outcome: string; count: number };

/** Adds the subjects up; leaves out hours and days without a count. */
export const findFigures = makeFind<FigurePoint, FigureQuery>()`
  SELECT ${fields<FigurePoint>({ at: f.at, outcome: f.outcome, count: sql`sum(${f.count})::float8` })}
  FROM ${f} WHERE ${f.metric} = ${"metric"} AND ${f.step} = ${"step"} AND ${f.subject} = ANY (${"subjects"}::text[])
    AND ${f.at} >= ${"from"} AND ${f.at} < ${"until"}
  GROUP BY ${f.at}, ${f.outcome} ORDER BY ${f.at}, ${f.outcome}`;

type Old = { step: FigureStep; before: Date; batch: number };

export const deleteFigures = makeRun<Old>("traffic.sweepFigures")`DELETE FROM ${f} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${f} WHERE ${f.step} = ${"step"} AND ${f.at} < ${"before"} ORDER BY ${f.at} LIMIT ${"batch"}))`;

const deleteOf = makeRun<{ subject: Subject; metrics: readonly Metric[]; steps: readonly FigureStep[] }>()`
  DELETE FROM ${f} WHERE ${f.metric} = ANY (${"metrics"}::text[])
    AND ${f.step} = ANY (${"steps"}::text[]) AND ${f.subject} = ${"subject"}`;

export const deleteFiguresOf = (db: Queryable, subject: Subject): Promise<number> =>
  deleteOf(db, { subject, metrics, steps });
