import type { Clock } from "../platform/clock.ts";
import { withTransaction } from "../platform/db.ts";
import type { Db } from "../platform/db.ts";
import type { WorkerJob } from "../platform/worker.ts";

// Oldest first and without a gap, so that the end of what is gone is one position.
const findBoundary = `
  SELECT coalesce(min(position) FILTER (WHERE at >= $1) - 1, max(position)) AS boundary
  FROM (SELECT position, at FROM app_event WHERE position IS NOT NULL ORDER BY position LIMIT $2) AS oldest`;

/** Takes events older than `before` from the feed and remembers up to where; answers how many there were. */
export async function sweepEvents(db: Pick<Db, "pool">, before: Date, batch = 10_000): Promise<number> {
  let swept = 0;
  for (;;) {
    const gone = await sweepBatch(db, before, batch);
    swept += gone;
    if (gone < batch) return swept;
  }
}

async function sweepBatch(db: Pick<Db, "pool">, before: Date, batch: number): Promise<number> {
  return withTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ boundary: string | null }>(findBoundary, [before, batch]);
    const { rowCount } = await tx.query("DELETE FROM app_event WHERE position <= $1", [rows[0]!.boundary]);
    if (rowCount)
      await tx.query("UPDATE event_feed SET swept_position = greatest(swept_position, $1)", [rows[0]!.boundary]);
    return rowCount ?? 0;
  });
}

/** Units: days of 24 hours. */
export const makeEventSweepJob = ({
  db,
  clock,
  feedDays,
}: {
  db: Pick<Db, "pool">;
  clock: Clock;
  feedDays: number;
}): WorkerJob => ({
  name: "events.sweep",
  everySeconds: 3600,
  run: async () => void (await sweepEvents(db, new Date(clock().getTime() - feedDays * 86_400_000))),
});
