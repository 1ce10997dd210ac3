import type { ErasureCause, ErasureReason, ErasureState } from "../../generated/prisma/enums.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { withPrismaTransaction, type Db, type PrismaDb } from "../platform/database/db.ts";
import { makeFind, makeRun, sql, table, update, type Columns, type Sql, type Value } from "../platform/database/sql.ts";
import { makeSweep } from "../platform/jobs/batches.ts";
import type { ClientId } from "./token.ts";
import { makeListBySchool } from "./usage/by-school.ts";

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
const deleteOld = makeRun<{ openedBefore: Date; erasedBefore: Date; batch: number }>("access.sweepErasures")`
  DELETE FROM ${e} WHERE ${e.id} IN (
    (SELECT ${old.id} FROM ${old} WHERE ${old.state} = 'erased' AND ${old.acknowledgedAt} < ${"erasedBefore"}
      LIMIT ${"batch"})
    UNION ALL
    (SELECT ${old.id} FROM ${old} WHERE ${old.state} = 'open' AND ${old.since} < ${"openedBefore"} LIMIT ${"batch"})
    UNION ALL
    (SELECT ${old.id} FROM ${old} WHERE ${old.state} = 'kept' AND ${old.since} < ${"openedBefore"} LIMIT ${"batch"})
    LIMIT ${"batch"})`;

export const makeErasureSweep = ({ db, clock, days }: { db: Db; clock: Clock; days: number }) =>
  makeSweep({ name: "access.sweepErasures", clock }, (now, batch) =>
    deleteOld(db.pool, { openedBefore: addDays(now, -days), erasedBefore: addDays(now, -erasedDays), batch }),
  );

type Erasures = Record<"open" | "overdue" | "waiting" | "erased" | "kept", number> & { openSince: Date | null };
type Waits = { now: Date; overdueBefore: Date; waitDays: number };

/** What apps have to erase. */
export const countErasures = makeListBySchool<Erasures, Waits>("access.countErasures", {
  of: e,
  counts: ({ now, overdueBefore, waitDays }) => {
    const askedAt = erasureAskedAt(e, waitDays);
    const count = (condition: Sql) => sql`count(*) FILTER (WHERE ${condition})::int`;
    const isOpen = sql`${e.state} = 'open' AND ${askedAt} <= ${now}`;
    return {
      open: count(isOpen),
      openSince: sql`min(${askedAt}) FILTER (WHERE ${isOpen})`,
      overdue: count(sql`${e.state} = 'open' AND ${askedAt} <= ${overdueBefore}`),
      waiting: count(sql`${e.state} = 'open' AND ${askedAt} > ${now}`),
      erased: count(sql`${e.state} = 'erased'`),
      kept: count(sql`${e.state} = 'kept'`),
    };
  },
  from: () => sql`FROM ${e} WHERE true`,
});

const app = table("app", "app");
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
