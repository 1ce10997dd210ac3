import { withTransaction, type Db } from "../platform/database/db.ts";
import { findRows, run, sql, statement, table, update } from "../platform/database/sql.ts";

type Storage = Pick<Db, "pool">;

/**
 * Gives committed events their place in the order that everybody reads.
 *
 * Shape: answers how many were placed. Any number of processes may call it; they take turns. After a reader has seen a
 *        position, no lower one appears.
 */
export async function sequenceEvents(db: Storage, batch = 5000): Promise<number> {
  let placed = 0;
  for (let last = batch; last === batch; placed += last) last = await sequenceSome(db, batch);
  return placed;
}

/** Places the first of them; answers how many, fewer than `batch` when there are no more. */
export async function sequenceSome(db: Storage, batch: number): Promise<number> {
  return (await isAnyWaiting(db)) ? placeBatch(db, batch) : 0;
}

const e = table("appEvent", "e");
const feed = table("eventFeed", "feed");

const findWaiting = statement(() => sql`SELECT FROM ${e} WHERE ${e.position} IS NULL LIMIT 1`, "events.isAnyWaiting");

const isAnyWaiting = async ({ pool }: Storage): Promise<boolean> => (await run(pool, findWaiting, {})) > 0;

// Events are looked for after the row is locked: those that another process has placed wait no more.
const takeTurn = statement(() => sql`SELECT FROM ${feed} FOR UPDATE`, "events.takeTurn");

const next = table("appEvent", "next");

// Updated by the primary key alone: statistics know of no event that waits, and would make a loop over all of them for
// each.
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

async function placeBatch(db: Storage, batch: number): Promise<number> {
  return withTransaction(db, async (tx) => {
    await run(tx, takeTurn, {});
    const rows = await findRows<{ placed: number }, { batch: number }>(tx, place, { batch });
    return rows[0]!.placed;
  });
}
