import type { Queryable } from "../../platform/db.ts";
import { sweepTokenBuckets } from "../../platform/token-bucket.ts";

const placeDays = 180;
const batch = 5_000;

/** Deletes brakes that are forgotten, buckets that are full and places unused for half a year; one batch each, answers how many went. */
export async function sweepSignInTraces(db: Queryable, now: Date): Promise<number> {
  const brakes = await db.query({
    name: "sweep-sign-in-brakes",
    text: `DELETE FROM sign_in_brake WHERE key = ANY (ARRAY(
             SELECT key FROM sign_in_brake WHERE forget_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))`,
    values: [now, batch],
  });
  const places = await db.query({
    name: "sweep-sign-in-places",
    text: `DELETE FROM sign_in_place AS old
           USING (SELECT person_id, place FROM sign_in_place
                  WHERE last_used_at < $1::timestamptz - make_interval(days => $2) LIMIT $3) AS gone
           WHERE old.person_id = gone.person_id AND old.place = gone.place`,
    values: [now, placeDays, batch],
  });
  const buckets = await sweepTokenBuckets(db, now, batch);
  return buckets + (brakes.rowCount ?? 0) + (places.rowCount ?? 0);
}
