import type { Origin } from "../events/index.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../platform/database/db.ts";
import { makeFind, makeRun, sql, table, update } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import { getConnectionRow, lockRosterConnection, type ConnectionRow } from "./connection.ts";
import type { RunTrigger } from "./runs.ts";

const c = table("rosterConnection", "c");
const due = table("rosterConnection", "due");
const until = sql`clock_timestamp() + interval '1 minute'`;
export const renewSeconds = 20;

/** The run holds the lease: its id is that of the holder. */
export type Claimed = { runId: string; row: ConnectionRow; trigger: RunTrigger };

/** A process that is killed costs this time. */
const againMinutes = 15;

const isFree = (of: typeof c) => sql`(${of.leaseUntil} IS NULL OR ${of.leaseUntil} < clock_timestamp())`;

const claimNext = makeFind<{ id: string }, { now: Date; holder: string }>(
  ({ now, holder }) => sql`
  ${update("rosterConnection", "c", {
    leaseHolder: holder,
    leaseUntil: until,
    nextRunAt: sql`${now}::timestamptz + make_interval(mins => ${againMinutes})`,
  })}
  WHERE ${c.id} = (
    SELECT ${due.id} FROM ${due} WHERE ${due.nextRunAt} <= ${now} AND ${due.state} = 'ON' AND ${isFree(due)}
    ORDER BY ${due.nextRunAt} LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING ${c.id} AS id`,
  "connections.claimNext",
);
type Holding = { id: string; holder: string };
const claimOne = makeFind<{ id: string }, Holding>("connections.claimOne")`
  ${({ holder }) => update("rosterConnection", "c", { leaseHolder: holder, leaseUntil: until })}
  WHERE ${c.id} = ${"id"} AND ${isFree(c)} RETURNING ${c.id} AS id`;
export const renewLease = makeRun<{ holder: string }>("connections.renewLease")`
  ${update("rosterConnection", "c", { leaseUntil: until })} WHERE ${c.leaseHolder} = ${"holder"}`;

const hold = makeRun<Holding>("connections.holdLease")`
  SELECT FROM ${c} WHERE ${c.id} = ${"id"} AND ${c.leaseHolder} = ${"holder"} FOR SHARE`;

/** Last in a transaction, so that no other run begins before it ends; false if another run has the lease. */
export const hasLease = async (tx: Transaction, { runId, row }: Claimed): Promise<boolean> =>
  (await hold(tx, { id: row.id, holder: runId })) === 1;

async function begin(tx: Transaction, id: string, begun: Omit<Claimed, "row"> & { now: Date }): Promise<Claimed> {
  const { runId, trigger, now } = begun;
  const ended = { outcome: "FAILED", failure: "INTERRUPTED", endedAt: now };
  await tx.prisma.rosterRun.updateMany({ where: { connectionId: id, outcome: "RUNNING" }, data: ended });
  await tx.prisma.rosterRun.create({
    data: { id: runId, connectionId: id, trigger, outcome: "RUNNING", startedAt: now },
  });
  return { runId, trigger, row: await getConnectionRow(tx, id) };
}

/** The connection that has been due longest, once for all the runs that it missed; null if none is. */
export const claimDue = (db: PrismaDb, now: Date): Promise<Claimed | null> =>
  withPrismaTransaction(db, async (tx) => {
    const runId = makeUuid(now);
    const [claimed] = await claimNext(tx, { now, holder: runId });
    return claimed === undefined ? null : begin(tx, claimed.id, { runId, trigger: "SCHEDULE", now });
  });

/** Errors: not_found; conflict roster_connection_running. */
export const claimByHand = (
  db: PrismaDb,
  { id, trigger }: { id: string; trigger: RunTrigger },
  { at }: Pick<Origin, "at">,
): Promise<Claimed> =>
  withPrismaTransaction(db, async (tx) => {
    await lockRosterConnection(tx, id);
    await getConnectionRow(tx, id);
    const runId = makeUuid(at);
    const [claimed] = await claimOne(tx, { id, holder: runId });
    if (claimed === undefined)
      throw new AppError(
        "conflict",
        "roster_connection_running",
        "The connection is running. Wait until it has ended.",
      );
    return begin(tx, id, { runId, trigger, now: at });
  });
