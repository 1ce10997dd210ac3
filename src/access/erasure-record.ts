import type { ErasureCause, ErasureReason, ErasureState } from "../../generated/prisma/enums.ts";
import type { SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { withPrismaTransaction, type Db, type PrismaDb } from "../platform/database/db.ts";
import { makeFind, makeRun, sql, table, update } from "../platform/database/sql.ts";
import type { Columns, Queryable, Sql, Value } from "../platform/database/sql.ts";
import { removeInBatches } from "../platform/jobs/batches.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { ClientId } from "./token.ts";

export type { ErasureCause, ErasureReason, ErasureState };

const e = table("erasure", "e");

/** SQL: since when the app is asked; it may acknowledge before. */
export const erasureAskedAt = (of: Columns<"cause" | "since" | "acknowledgedAt">, waitDays: Value): Sql => sql`
  least(${of.acknowledgedAt},
    ${of.since} + CASE ${of.cause} WHEN 'deleted' THEN interval '0' ELSE make_interval(days => ${waitDays}::int) END)`;

type Acknowledgement = {
  id: string;
  clientId: ClientId;
  state: "erased" | "kept";
  reason: ErasureReason | null;
};

// What was erased stays erased, so that concurrent requests have the same result in any order.
const acknowledge = makeFind<{ schoolId: string }, Acknowledgement & { now: Date }>(
  ({ id, clientId, state, reason, now }) => sql`
  ${update("erasure", "e", {
    state: sql`${state}::erasure_state`,
    reason: sql`${reason}::erasure_reason`,
    acknowledgedAt: now,
  })}
  WHERE ${e.id} = ${id} AND ${e.clientId} = ${clientId}
    AND (${e.state} = 'open' OR (${e.state} = 'kept' AND ${state}::erasure_state = 'erased'))
  RETURNING ${e.schoolId} AS "schoolId"`,
  "access.acknowledgeErasure",
);

/** Does nothing if the app has no such erasure, or has acknowledged it. */
export function acknowledgeErasure(db: PrismaDb, answer: Acknowledgement, origin: Origin): Promise<void> {
  const { id, clientId, state, reason } = answer;
  return withPrismaTransaction(db, async (tx) => {
    const [changed] = await acknowledge(tx, { ...answer, now: origin.at });
    if (changed === undefined) return;
    const detail = { erasureId: id, outcome: state, ...(reason !== null && { reason }) };
    await recordAudit(tx, { ...origin, action: "erasure_acknowledged", clientId, ...changed, detail });
  });
}

/** How long what an app erased stays readable for it. */
export const erasedDays = 30;

const old = table("erasure", "old");
const deleteOld = makeRun<{ openedBefore: Date; erasedBefore: Date; batch: number }>(
  ({ openedBefore, erasedBefore, batch }) => sql`
  DELETE FROM ${e} WHERE ${e.id} IN (
    (SELECT ${old.id} FROM ${old} WHERE ${old.state} = 'erased' AND ${old.acknowledgedAt} < ${erasedBefore} LIMIT ${batch})
    UNION ALL
    (SELECT ${old.id} FROM ${old} WHERE ${old.state} = 'open' AND ${old.since} < ${openedBefore} LIMIT ${batch})
    UNION ALL
    (SELECT ${old.id} FROM ${old} WHERE ${old.state} = 'kept' AND ${old.since} < ${openedBefore} LIMIT ${batch})
    LIMIT ${batch})`,
  "access.sweepErasures",
);

export const makeErasureSweep = ({ db, clock, days }: { db: Db; clock: Clock; days: number }): WorkerJob => ({
  name: "access.sweepErasures",
  everySeconds: 3600,
  async run(signal) {
    const now = clock();
    const before = { openedBefore: addDays(now, -days), erasedBefore: addDays(now, -erasedDays) };
    await removeInBatches(signal, (batch) => deleteOld(db.pool, { ...before, batch }));
  },
});

type Erasures = {
  clientId: ClientId;
  appName: string;
  schoolId: SchoolId;
  schoolName: string;
  open: number;
  openSince: Date | null;
  overdue: number;
  waiting: number;
  erased: number;
  kept: number;
  place: string;
};

export type ErasurePosition = { place: string; lastSchool: SchoolId; lastApp: ClientId };

type Filter = {
  clientId: ClientId | undefined;
  schoolId: SchoolId | undefined;
  /** Null means all. */
  amongSchools: readonly SchoolId[] | null;
  amongApps: readonly ClientId[] | null;
  now: Date;
  overdueBefore: Date;
  waitDays: number;
  limit: number;
};

const app = table("app", "app");
const s = table("school", "s");

const listCounts = makeFind<Erasures, Filter & Partial<ErasurePosition>>((filter) => {
  const askedAt = erasureAskedAt(e, filter.waitDays);
  const count = (condition: Sql) => sql`count(*) FILTER (WHERE ${condition})::int`;
  const isOpen = sql`${e.state} = 'open' AND ${askedAt} <= ${filter.now}`;
  return sql`
  SELECT ${app.clientId} AS "clientId", ${app.name} AS "appName", ${s.id} AS "schoolId", ${s.name} AS "schoolName",
    counted.open, counted.open_since AS "openSince", counted.overdue, counted.waiting, counted.erased, counted.kept,
    ${s.sortKey} AS place
  FROM (
    SELECT ${e.clientId}, ${e.schoolId}, ${count(isOpen)} AS open,
      min(${askedAt}) FILTER (WHERE ${isOpen}) AS open_since,
      ${count(sql`${e.state} = 'open' AND ${askedAt} <= ${filter.overdueBefore}`)} AS overdue,
      ${count(sql`${e.state} = 'open' AND ${askedAt} > ${filter.now}`)} AS waiting,
      ${count(sql`${e.state} = 'erased'`)} AS erased, ${count(sql`${e.state} = 'kept'`)} AS kept
    FROM ${e}
    WHERE (${filter.clientId}::text IS NULL OR ${e.clientId} = ${filter.clientId})
      AND (${filter.schoolId}::uuid IS NULL OR ${e.schoolId} = ${filter.schoolId})
      AND (${filter.amongSchools}::uuid[] IS NULL OR ${e.schoolId} = ANY (${filter.amongSchools})
        OR ${e.clientId} = ANY (${filter.amongApps}::text[]))
    GROUP BY ${e.clientId}, ${e.schoolId}) AS counted
  JOIN ${app} ON ${app.clientId} = counted.client_id JOIN ${s} ON ${s.id} = counted.school_id
  WHERE ${filter.place}::text IS NULL
    OR (${s.sortKey}, ${s.id}, ${app.clientId}) > (${filter.place}, ${filter.lastSchool}::uuid, ${filter.lastApp}::text)
  ORDER BY ${s.sortKey}, ${s.id}, ${app.clientId} LIMIT ${filter.limit}`;
}, "access.countErasures");

/** By app and school, in the order of their schools. `after` is the last entry of the page before. */
export const countErasures = (
  db: Queryable,
  { after, ...filter }: Filter & { after: ErasurePosition | undefined },
): Promise<Erasures[]> => listCounts(db, { ...filter, ...after });

const overdue = table("erasure", "v_overdue");

/** FROM: apps that did not confirm erasures in time, each with `open_since`; `where` limits the rows of `v_overdue`. */
export const fromOverdueApps = (
  { waitDays, overdueBefore }: { waitDays: Value; overdueBefore: Value },
  where: (of: Columns<"schoolId" | "clientId">) => Sql,
): Sql => sql`
  ${app} CROSS JOIN LATERAL (
    SELECT ${erasureAskedAt(overdue, waitDays)} AS open_since FROM ${overdue}
    WHERE ${overdue.clientId} = ${app.clientId} AND ${overdue.state} = 'open'
      AND ${erasureAskedAt(overdue, waitDays)} <= ${overdueBefore} AND (${where(overdue)})
    ORDER BY ${overdue.since} LIMIT 1) AS open_erasure`;
