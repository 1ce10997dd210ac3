import { addDays, type Clock } from "../platform/clock.ts";
import { withTransaction, type Db } from "../platform/database/db.ts";
import { findRows, run, sql, statement, table, update } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";

const e = table("appEvent", "e");
const feed = table("eventFeed", "feed");

// Oldest first and without a gap, so that the end of what is gone is one position.
const findBoundary = statement<{ before: Date; batch: number }>(
  ({ before, batch }) => sql`
  SELECT coalesce(min(position) FILTER (WHERE at >= ${before}) - 1, max(position)) AS boundary
  FROM (
    SELECT ${e.position}, ${e.at} FROM ${e} WHERE ${e.position} IS NOT NULL
    ORDER BY ${e.position} LIMIT ${batch}) AS oldest`,
);

type Boundary = { boundary: string | null };

const deleteUpTo = statement<Boundary>(({ boundary }) => sql`DELETE FROM ${e} WHERE ${e.position} <= ${boundary}`);

const rememberBoundary = statement<Boundary>(({ boundary }) =>
  update("eventFeed", "feed", { sweptPosition: sql`greatest(${feed.sweptPosition}, ${boundary})` }),
);

type Asked = { signal: AbortSignal; batch?: number };

/** Takes events older than `before` from the feed and remembers up to where; answers how many there were. */
export async function sweepEvents(
  db: Pick<Db, "pool">,
  before: Date,
  { signal, batch = 5000 }: Asked,
): Promise<number> {
  let swept = 0;
  for (let gone = batch; gone === batch && !signal.aborted; swept += gone) gone = await sweepBatch(db, before, batch);
  return swept;
}

async function sweepBatch(db: Pick<Db, "pool">, before: Date, batch: number): Promise<number> {
  return withTransaction(db, async (tx) => {
    const [oldest] = await findRows<Boundary, { before: Date; batch: number }>(tx, findBoundary, { before, batch });
    const gone = await run(tx, deleteUpTo, oldest!);
    if (gone > 0) await run(tx, rememberBoundary, oldest!);
    return gone;
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
  run: async (signal) => void (await sweepEvents(db, addDays(clock(), -feedDays), { signal })),
});
