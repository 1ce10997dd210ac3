import { addDays, type Clock } from "../../platform/clock.ts";
import { withPrismaTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { fields, makeFind, makeRun, pick, sql, table, update } from "../../platform/database/sql.ts";
import type { WorkerJob } from "../../platform/jobs/worker.ts";
import { cutOverIdMove } from "./change.ts";
import type { Held, Leased, State } from "./held.ts";
import { announce, forgetOldIds, prepare, undoMove } from "./steps.ts";

const move = table("idMove", "moved");
const due = table("idMove", "due");

const leaseSeconds = 60;

const takeDue = makeFind<Leased, { now: Date; until: Date; before: Date }>("access.takeDueIdMove")`
  ${({ until }) => update("idMove", "moved", { leasedUntil: until })}
  WHERE ${move.clientId} = (
    SELECT ${due.clientId} FROM ${due}
    WHERE (${due.leasedUntil} IS NULL OR ${due.leasedUntil} <= ${"now"}) AND CASE ${due.state}
      WHEN 'RUNNING' THEN NOT ${due.isAnnounced} OR ${due.cutOverAt} <= ${"now"}
      WHEN 'CUT_OVER' THEN ${due.forgottenAt} IS NULL AND ${due.cutOverAt} <= ${"before"}
      ELSE true END
    ORDER BY ${due.startedAt} LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING ${fields<Leased>({
    ...pick(move, "clientId", "oldSector", "newSector", "isAnnounced"),
    state: sql`${move.state}::text`,
  })}`;

const keepLease = makeRun<{ clientId: string; state: State; until: Date | null }>("access.keepIdMove")`
  ${({ until }) => update("idMove", "moved", { leasedUntil: until })}
  WHERE ${move.clientId} = ${"clientId"} AND ${move.state} = ${"state"}::id_move_state`;

/** The move was called off, or the app deleted, while the process worked on it. */
class Ended extends Error {}

/** `keptDays`: how long after the cut-over the app can read what its old ids have become. */
export function makeIdMoveJob({ db, clock, keptDays }: { db: PrismaDb; clock: Clock; keptDays: number }): WorkerJob {
  const leasedUntil = () => new Date(clock().getTime() + leaseSeconds * 1000);

  async function work(held: Held): Promise<void> {
    const { clientId, state, isAnnounced } = held.move;
    if (state === "PREPARING") return prepare(db, held);
    if (state === "CUT_OVER") return forgetOldIds(db, held);
    if (state === "CALLED_OFF") return undoMove(db, held);
    if (!isAnnounced) return announce(db, held);
    await withPrismaTransaction(db, (tx) => cutOverIdMove(tx, clientId, { at: held.now, actorId: "id-move" }));
  }

  async function runOne(leased: Leased, signal: AbortSignal): Promise<void> {
    const { clientId, state } = leased;
    const renew = async () => {
      signal.throwIfAborted();
      if ((await keepLease(db.pool, { clientId, state, until: leasedUntil() })) === 0) throw new Ended();
    };
    try {
      await work({ move: leased, now: clock(), renew, signal });
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
    }
    await keepLease(db.pool, { clientId, state, until: null });
  }

  return {
    name: "access.moveIds",
    everySeconds: 1,
    async run(signal) {
      while (!signal.aborted) {
        const now = clock();
        const [leased] = await takeDue(db.pool, { now, until: leasedUntil(), before: addDays(now, -keptDays) });
        if (leased === undefined) return;
        await runOne(leased, signal);
      }
    },
  };
}
