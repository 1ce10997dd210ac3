import { removeInBatches } from "../platform/batches.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../platform/db.ts";
import type { WorkerJob } from "../platform/worker.ts";
import { tryHoldForSweep } from "./lease.ts";
import { recordFailure } from "./failure.ts";
import { deleteStaged, type ImportId } from "./record.ts";

const waitingDays = 7;
const waiting = { state: { in: ["READING", "READY", "HELD"] } };

/**
 * Makes the job that removes the staged rows of imports that waited for a week, and the lines of faults, because they
 * hold names, also of people who were deleted since; the numbers of these imports stay.
 *
 * Shape:  an import that is being applied is left to end; of several processes one expires it.
 * Errors: an import that cannot be expired is tried again at the next run and keeps no other from it.
 */
export function makeImportSweep({ db, clock }: { db: PrismaDb; clock: Clock }): WorkerJob {
  return {
    name: "imports.sweep",
    everySeconds: 3600,
    async run(signal) {
      const before = addDays(clock(), -waitingDays);
      const old = await db.prisma.import.findMany({
        where: { createdAt: { lt: before }, ...waiting },
        select: { id: true },
      });
      await endInterrupted(db, clock());
      const withText = { lineText: { not: null }, import: { createdAt: { lt: before } } };
      await removeInBatches(signal, async (limit) => {
        const { count } = await db.prisma.importError.updateMany({ where: withText, data: { lineText: null }, limit });
        return count;
      });
      const failed: unknown[] = [];
      for (const { id } of old) {
        if (signal.aborted) return;
        await withPrismaTransaction(db, (tx) => expire(tx, id)).catch((error: unknown) => failed.push(error));
      }
      if (failed.length > 0) throw new AggregateError(failed, `${failed.length} imports could not be expired`);
    },
  };
}

const silentMinutes = 10;

/** A process that ended in the middle of a file reports nothing more, and nobody else has the file. */
async function endInterrupted(db: PrismaDb, now: Date): Promise<void> {
  const before = new Date(now.getTime() - silentMinutes * 60_000);
  const silent = await db.prisma.import.findMany({ where: { progressAt: { lt: before } }, select: { id: true } });
  for (const { id } of silent) await recordFailure(db, id as ImportId, null);
}

async function expire(tx: Transaction, id: string): Promise<void> {
  if (!(await tryHoldForSweep(tx, id))) return;
  await tx.query("SET LOCAL statement_timeout = '60min'");
  await tx.prisma.import.updateMany({ where: { id, ...waiting }, data: { state: "EXPIRED" } });
  await deleteStaged(tx, id);
}
