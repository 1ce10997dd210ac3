import { withTransaction, type Db } from "../platform/database/db.ts";
import { findRows, makeRun, run, sql, statement, table, update } from "../platform/database/sql.ts";
import { removeInBatches } from "../platform/jobs/batches.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";

/** Processes take turns: after a reader has seen a position, no lower one appears. */
export async function sequenceEvents(db: Db, batch = 5000): Promise<number> {
  let placed = 0;
  for (let last = batch; last === batch; placed += last) last = await sequenceSome(db, batch);
  return placed;
}

export async function sequenceSome(db: Db, batch: number): Promise<number> {
  return (await isAnyWaiting(db)) ? placeBatch(db, batch) : 0;
}

const e = table("appEvent", "e");
const feed = table("eventFeed", "feed");

const findWaiting = statement(() => sql`SELECT FROM ${e} WHERE ${e.position} IS NULL LIMIT 1`, "events.isAnyWaiting");

const isAnyWaiting = async ({ pool }: Db): Promise<boolean> => (await run(pool, findWaiting, {})) > 0;

// Lock first, then look: events that another process has placed meanwhile must not be found.
const takeTurn = statement(() => sql`SELECT FROM ${feed} FOR UPDATE`, "events.takeTurn");

const next = table("appEvent", "next");

// Joins by primary key only: statistics rarely show waiting events, and the planner would choose a nested loop.
const place = statement<{ batch: number }>(
  ({ batch }) => sql`
  WITH waiting AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY seq) AS place FROM (
      SELECT ${next.id}, ${next.seq} FROM ${next} WHERE ${next.position} IS NULL
      ORDER BY ${next.seq} LIMIT ${batch}) oldest),
  placed AS (
    ${update("appEvent", "e", { position: sql`(SELECT ${feed.lastPosition} FROM ${feed}) + waiting.place` })}
    FROM waiting WHERE ${e.id} = waiting.id)
  ${update("eventFeed", "feed", { lastPosition: sql`${feed.lastPosition} + (SELECT count(*) FROM waiting)` })}
  RETURNING (SELECT count(*)::int FROM waiting) AS placed`,
  "events.place",
);

async function placeBatch(db: Db, batch: number): Promise<number> {
  return withTransaction(db, async (tx) => {
    await run(tx, takeTurn, {});
    const rows = await findRows<{ placed: number }, { batch: number }>(tx, place, { batch });
    return rows[0]!.placed;
  });
}

// The time in microseconds is ahead of every position ever issued, even after several restores of the same backup.
const now = sql`(extract(epoch FROM now()) * 1000000)::bigint`;
const ahead = sql`greatest(${feed.lastPosition} + 1, ${now})`;

/** Restoring a backup ends all cursors with it, so that apps read everything anew. */
export const restartFeed = makeRun(
  () => update("eventFeed", "feed", { lastPosition: ahead, sweptPosition: ahead }),
  "events.restartFeed",
);

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
