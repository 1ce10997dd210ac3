import type { Clock } from "../platform/clock.ts";
import { withTransaction, type Db } from "../platform/db.ts";
import type { WorkerJob } from "../platform/worker.ts";
import { deleteStaged } from "./record.ts";

const waitingDays = 7;

/** Rosters hold names, so one that nobody applies is thrown away after a week; its numbers stay. */
export function makeImportSweep({ db, clock }: { db: Pick<Db, "pool">; clock: Clock }): WorkerJob {
  return {
    name: "imports.sweep",
    everySeconds: 3600,
    async run() {
      const before = new Date(clock().getTime() - waitingDays * 86_400_000);
      const { rows } = await db.pool.query<{ id: string }>("SELECT id FROM import WHERE created_at < $1 AND state IN ('READING', 'READY', 'HELD')", [before]);
      for (const { id } of rows) {
        await withTransaction(db, async (tx) => {
          await tx.query("SET LOCAL statement_timeout = '60min'");
          await tx.query("UPDATE import SET state = 'EXPIRED' WHERE id = $1 AND state IN ('READING', 'READY', 'HELD')", [id]);
          await deleteStaged(tx, id);
        });
      }
    },
  };
}
