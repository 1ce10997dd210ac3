import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import type { ImportId } from "../imports/index.ts";
import { getConnectionRow, lockRosterConnection, nextRunOf, type ConnectionRow } from "./connection.ts";
import { isWorthTelling, retryAt, type RunFailure } from "./schedule.ts";
import type { Claimed } from "./lease.ts";
import type { RunCounts, RunOutcome } from "./runs.ts";

/** What became of a run; `digest` and `validator` are those of a file that became an import. */
export type Ended = {
  outcome: Exclude<RunOutcome, "RUNNING">;
  failure?: RunFailure;
  detail?: string;
  counts?: RunCounts;
  importId?: ImportId;
  replacedImportId?: ImportId;
  digest?: Buffer<ArrayBuffer>;
  validator?: string | null;
};

type Notice = "FAILING" | "WAITING" | "WORKS_AGAIN";

function readHealth({ row, trigger }: Claimed, current: ConnectionRow, ended: Ended, now: Date) {
  const next = (after: Date) => nextRunOf(current, after);
  const { failure } = ended;
  if (failure === undefined) {
    const nextRunAt = trigger === "SCHEDULE" ? next(now) : current.nextRunAt;
    return { failures: 0, failingSince: null, lastFailure: null, isTold: false, nextRunAt };
  }
  const failures = row.failures + 1;
  return {
    failures,
    failingSince: row.failingSince ?? now,
    lastFailure: failure,
    isTold: row.isTold || isWorthTelling(failure, failures),
    nextRunAt: trigger === "SCHEDULE" ? retryAt(failure, { failures, now, next }) : current.nextRunAt,
  };
}

/** A preview that takes the place of one that waited is no news. */
function findNotice({ row }: Claimed, { failure, outcome, replacedImportId }: Ended, isTold: boolean): Notice | null {
  if (failure !== undefined) return isTold && !row.isTold ? "FAILING" : null;
  if ((outcome === "WAITING" || outcome === "HELD") && replacedImportId === undefined) return "WAITING";
  return row.isTold ? "WORKS_AGAIN" : null;
}

/** Records the end of a run; false if another one has taken its place. A test leaves the connection as it was. */
export const finishRun = (
  db: PrismaDb,
  claimed: Claimed,
  ended: Ended,
  { now, sendsMail }: { now: Date; sendsMail: boolean },
): Promise<boolean> =>
  withPrismaTransaction(db, async (tx) => {
    const { runId, trigger, row } = claimed;
    await lockRosterConnection(tx, row.id);
    if ((await tx.prisma.rosterConnection.findUnique({ where: { id: row.id } }))?.leaseHolder !== runId) return false;
    const current = await getConnectionRow(tx, row.id);
    const health = readHealth(claimed, current, ended, now);
    const { digest, validator, failure, ...rest } = ended;
    const isTest = trigger === "TEST";
    const notice = isTest ? null : findNotice(claimed, ended, health.isTold);
    const isSent = notice !== null && sendsMail && current.notifyAddresses.length > 0;
    // What was not told before is old news, except of a preview that waits.
    if (isSent)
      await tx.prisma.rosterRun.updateMany({
        where: { connectionId: row.id, noticeDueAt: { not: null }, notice: { not: "WAITING" } },
        data: { noticeDueAt: null, noticeTold: [] },
      });
    await tx.prisma.rosterRun.update({
      where: { id: runId },
      data: { ...rest, failure: failure ?? null, endedAt: now, ...(isSent && { notice, noticeDueAt: now }) },
    });
    // Settings that were changed meanwhile may give another file.
    const isSame = JSON.stringify(current.settings) === JSON.stringify(row.settings);
    await tx.prisma.rosterConnection.update({
      where: { id: row.id },
      data: {
        leaseHolder: null,
        leaseUntil: null,
        ...(!isTest && health),
        ...(!isTest && isSame && digest !== undefined && { digest, validator: validator ?? null }),
      },
    });
    return true;
  });
