import { withTransaction, type Db } from "../platform/database/db.ts";
import { findRows, makeRun, run, sql, statement, table, update } from "../platform/database/sql.ts";

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
