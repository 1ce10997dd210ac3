import type { Clock } from "../platform/clock.ts";
import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import type { WorkerJob } from "../platform/worker.ts";
import { tryHoldForSweep } from "./lease.ts";
import { deleteStaged } from "./record.ts";

const waitingDays = 7;

/**
 * Throws a roster away that nobody applied within a week, because it holds names, also of people who are gone by now; its numbers stay.
 *
 * Shape:  one that is being applied is left to end; of several processes the one that comes second passes by.
 * Errors: one that cannot be thrown away is tried again at the next run and keeps no other from it.
 */
export function makeImportSweep({ db, clock }: { db: Pick<Db, "pool">; clock: Clock }): WorkerJob {
  return {
    name: "imports.sweep",
    everySeconds: 3600,
    async run(signal) {
      const before = new Date(clock().getTime() - waitingDays * 86_400_000);
      const { rows } = await db.pool.query<{ id: string }>(
        "SELECT id FROM import WHERE created_at < $1 AND state IN ('READING', 'READY', 'HELD')",
        [before],
      );
      const failed: unknown[] = [];
      for (const { id } of rows) {
        if (signal.aborted) return;
        await withTransaction(db, (tx) => expire(tx, id)).catch((error: unknown) => failed.push(error));
      }
      if (failed.length > 0) throw new AggregateError(failed, `${failed.length} rosters could not be thrown away`);
    },
  };
}

async function expire(tx: Queryable, id: string): Promise<void> {
  if (!(await tryHoldForSweep(tx, id))) return;
  await tx.query("SET LOCAL statement_timeout = '60min'");
  await tx.query("UPDATE import SET state = 'EXPIRED' WHERE id = $1 AND state IN ('READING', 'READY', 'HELD')", [id]);
  await deleteStaged(tx, id);
}
