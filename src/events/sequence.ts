import { withTransaction, type Db } from "../platform/database/db.ts";
import { makeFindOne, makeRun, sql, table, update } from "../platform/database/sql.ts";
import { workInBatches } from "../platform/jobs/batches.ts";
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

const findWaiting = makeRun("events.isAnyWaiting")`SELECT FROM ${e} WHERE ${e.position} IS NULL LIMIT 1`;

const isAnyWaiting = async ({ pool }: Db): Promise<boolean> => (await findWaiting(pool, {})) > 0;

// Lock first, then look: events that another process has placed meanwhile must not be found.
const takeTurn = makeRun("events.takeTurn")`SELECT FROM ${feed} FOR UPDATE`;

const next = table("appEvent", "next");

// Joins by primary key only: statistics rarely show waiting events, and the planner would choose a nested loop.
const place = makeFindOne<{ placed: number }, { batch: number }>("events.place")`
  WITH waiting AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY seq) AS place FROM (
      SELECT ${next.id}, ${next.seq} FROM ${next} WHERE ${next.position} IS NULL
      ORDER BY ${next.seq} LIMIT ${"batch"}) oldest),
  placed AS (
    ${update("appEvent", "e", { position: sql`(SELECT ${feed.lastPosition} FROM ${feed}) + waiting.place` })}
    FROM waiting WHERE ${e.id} = waiting.id)
  ${update("eventFeed", "feed", { lastPosition: sql`${feed.lastPosition} + (SELECT count(*) FROM waiting)` })}
  RETURNING (SELECT count(*)::int FROM waiting) AS placed`;

async function placeBatch(db: Db, batch: number): Promise<number> {
  return withTransaction(db, async (tx) => {
    await takeTurn(tx, {});
    return (await place(tx, { batch })).placed;
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

type Boundary = { boundary: string | null };

const findBoundary = makeFindOne<Boundary, { before: Date; batch: number }>()`
  SELECT coalesce(min(position) FILTER (WHERE at >= ${"before"}) - 1, max(position)) AS boundary
  FROM (
    SELECT ${e.position}, ${e.at} FROM ${e} WHERE ${e.position} IS NOT NULL
    ORDER BY ${e.position} LIMIT ${"batch"}) AS oldest`;

const deleteUpTo = makeRun<Boundary>()`DELETE FROM ${e} WHERE ${e.position} <= ${"boundary"}`;

const rememberBoundary = makeRun<Boundary>(({ boundary }) =>
  update("eventFeed", "feed", { sweptPosition: sql`greatest(${feed.sweptPosition}, ${boundary})` }),
);

export const sweepEvents = (db: Db, before: Date, { signal, batch }: { signal: AbortSignal; batch?: number }) =>
  workInBatches(signal, (most) => sweepBatch(db, before, most), batch);

async function sweepBatch(db: Db, before: Date, batch: number): Promise<number> {
  return withTransaction(db, async (tx) => {
    const boundary = await findBoundary(tx, { before, batch });
    const gone = await deleteUpTo(tx, boundary);
    if (gone > 0) await rememberBoundary(tx, boundary);
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

const deleteSome = makeRun<Forgotten & { batch: number }>("events.forgetSome")`
  DELETE FROM ${e} WHERE ${e.id} = ANY (ARRAY(
    SELECT ${oldest.id} FROM ${oldest}
    WHERE ${oldest.clientId} = ${"clientId"} AND (NOT ${"onlyNewIds"}::boolean OR ${oldest.oldSubjectId} IS NOT NULL)
    LIMIT ${"batch"}))`;

/** All events of an app, or its announcements of new ids. In batches, so that `sequenceEvents` never waits long. */
export async function forgetEvents(db: Db, forgotten: Forgotten): Promise<void> {
  while ((await deleteSome(db.pool, { ...forgotten, batch: 5000 })) > 0);
}
