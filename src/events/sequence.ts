import { withTransaction } from "../platform/db.ts";
import type { Db } from "../platform/db.ts";

type Storage = Pick<Db, "pool">;

/**
 * Gives committed events their place in the order that everybody reads.
 *
 * Shape: answers how many were placed. Any number of processes may call it; they take turns. Whoever has seen a position
 *        never sees a lower one appear.
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

async function isAnyWaiting({ pool }: Storage): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: "events.isAnyWaiting",
    text: "SELECT FROM app_event WHERE position IS NULL LIMIT 1",
  });
  return rowCount !== 0;
}

// The events are looked for after the row is held: what a process that was faster has placed waits no more.
const takeTurn = "SELECT FROM event_feed FOR UPDATE";
// Updated by the primary key alone: statistics know of no event that waits, and would make a loop over all of them for each.
const place = `
  WITH waiting AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY seq) AS place FROM (SELECT id, seq FROM app_event WHERE position IS NULL ORDER BY seq LIMIT $1) next),
  placed AS (
    UPDATE app_event e SET position = (SELECT last_position FROM event_feed) + waiting.place FROM waiting WHERE e.id = waiting.id)
  UPDATE event_feed SET last_position = last_position + (SELECT count(*) FROM waiting)
  RETURNING (SELECT count(*)::int FROM waiting) AS placed`;

async function placeBatch(db: Storage, batch: number): Promise<number> {
  return withTransaction(db, async (tx) => {
    await tx.query({ name: "events.takeTurn", text: takeTurn });
    const { rows } = await tx.query<{ placed: number }>({ name: "events.place", text: place, values: [batch] });
    return rows[0]!.placed;
  });
}
