import { removeInBatches } from "../platform/jobs/batches.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { withTransaction, type Db } from "../platform/database/db.ts";
import { findRows, run, sql, statement, table, update } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";

const e = table("appEvent", "e");
const feed = table("eventFeed", "feed");

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

export const sweepEvents = (
  db: Db,
  before: Date,
  { signal, batch }: { signal: AbortSignal; batch?: number },
): Promise<number> => removeInBatches(signal, (most) => sweepBatch(db, before, most), batch);

async function sweepBatch(db: Db, before: Date, batch: number): Promise<number> {
  return withTransaction(db, async (tx) => {
    const [oldest] = await findRows<Boundary, { before: Date; batch: number }>(tx, findBoundary, { before, batch });
    const gone = await run(tx, deleteUpTo, oldest!);
    if (gone > 0) await run(tx, rememberBoundary, oldest!);
    return gone;
  });
}

export const makeEventSweepJob = ({ db, clock, feedDays }: { db: Db; clock: Clock; feedDays: number }): WorkerJob => ({
  name: "events.sweep",
  everySeconds: 3600,
  run: async (signal) => void (await sweepEvents(db, addDays(clock(), -feedDays), { signal })),
});

const oldest = table("appEvent", "oldest");

type Forgotten = { clientId: string; onlyNewIds: boolean };

const deleteSome = statement<Forgotten & { batch: number }>(
  ({ clientId, onlyNewIds, batch }) => sql`
  DELETE FROM ${e} WHERE ${e.id} = ANY (ARRAY(
    SELECT ${oldest.id} FROM ${oldest}
    WHERE ${oldest.clientId} = ${clientId} AND (NOT ${onlyNewIds}::boolean OR ${oldest.oldSubjectId} IS NOT NULL)
    LIMIT ${batch}))`,
  "events.forgetSome",
);

/** All events of an app, or its announcements of new ids. In batches, so that `sequenceEvents` never waits long. */
export async function forgetEvents(db: Db, forgotten: Forgotten): Promise<void> {
  while ((await run(db.pool, deleteSome, { ...forgotten, batch: 5000 })) > 0);
}
