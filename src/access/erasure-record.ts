import { recordAudit, type Origin } from "../events/index.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { withPrismaTransaction, type Db, type PrismaDb } from "../platform/database/db.ts";
import { findRows, run, sql, statement, table, update } from "../platform/database/sql.ts";
import type { Columns, Sql, Value } from "../platform/database/sql.ts";
import { removeInBatches } from "../platform/jobs/batches.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { ClientId } from "./token.ts";

export type ErasureCause = "deleted" | "no_longer_synced" | "access_withdrawn";
export type ErasureState = "open" | "erased" | "kept";
export type ErasureReason = "legal_obligation" | "legal_claims" | "own_contract";

const e = table("erasure", "e");

/** SQL: since when the app is asked; it may acknowledge before. */
export const erasureAskedAt = (of: Columns<"cause" | "since" | "acknowledgedAt">, waitDays: Value): Sql => sql`
  least(${of.acknowledgedAt},
    ${of.since} + CASE ${of.cause} WHEN 'deleted' THEN interval '0' ELSE make_interval(days => ${waitDays}::int) END)`;

export type Acknowledgement = {
  id: string;
  clientId: ClientId;
  state: "erased" | "kept";
  reason: ErasureReason | null;
};

// What was erased stays erased, so that requests at the same time end alike in any order.
const acknowledge = statement<Acknowledgement & { now: Date }>(
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
export function acknowledgeErasure(db: PrismaDb, given: Acknowledgement, origin: Origin): Promise<void> {
  const { id, clientId, state, reason } = given;
  return withPrismaTransaction(db, async (tx) => {
    const [changed] = await findRows<{ schoolId: string }>(tx, acknowledge, { ...given, now: origin.at });
    if (changed === undefined) return;
    const detail = { erasureId: id, outcome: state, ...(reason !== null && { reason }) };
    await recordAudit(tx, { ...origin, action: "erasure_acknowledged", clientId, ...changed, detail });
  });
}

/** How long what an app erased stays readable for it. */
export const erasedDays = 30;

const old = table("erasure", "old");
const deleteOld = statement<{ openedBefore: Date; erasedBefore: Date; batch: number }>(
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

export const sweepErasures = (
  db: Db,
  { now, days }: { now: Date; days: number },
  signal: AbortSignal,
): Promise<number> => {
  const before = { openedBefore: addDays(now, -days), erasedBefore: addDays(now, -erasedDays) };
  return removeInBatches(signal, (batch) => run(db.pool, deleteOld, { ...before, batch }));
};

export const makeErasureSweep = ({ db, clock, days }: { db: Db; clock: Clock; days: number }): WorkerJob => ({
  name: "access.sweepErasures",
  everySeconds: 3600,
  run: async (signal) => void (await sweepErasures(db, { now: clock(), days }, signal)),
});
