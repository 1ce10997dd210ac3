import type { Queryable } from "./db.ts";

/**
 * How often something may happen.
 *
 * Shape: `capacity` at once; what was taken comes back evenly, all of it within `refillSeconds`.
 */
export type Bucket = { key: Buffer; capacity: number; refillSeconds: number };

const secondsPerToken = ({ capacity, refillSeconds }: Bucket): number => refillSeconds / capacity;

/**
 * Takes one token; where there is none, nothing is written, so that asking does not make the wait longer.
 *
 * Shape:  null when it was taken, else the time at which there is one again.
 * Source: the generic cell rate algorithm (ITU-T I.371): one time per bucket says how full it is.
 */
export async function takeToken(db: Queryable, bucket: Bucket, now: Date): Promise<Date | null> {
  const values = [bucket.key, now, secondsPerToken(bucket), bucket.refillSeconds];
  const taken = await db.query({
    name: "token-bucket.take",
    text: `INSERT INTO rate_limit AS bucket (key, full_at) VALUES ($1, $2::timestamptz + make_interval(secs => $3))
           ON CONFLICT (key) DO UPDATE SET full_at = greatest(bucket.full_at, $2) + make_interval(secs => $3)
           WHERE bucket.full_at + make_interval(secs => $3) <= $2::timestamptz + make_interval(secs => $4)`,
    values,
  });
  if (taken.rowCount === 1) return null;
  const { rows } = await db.query<{ at: Date }>({
    name: "token-bucket.wait",
    text: `SELECT full_at + make_interval(secs => $2) - make_interval(secs => $3) AS at FROM rate_limit WHERE key = $1`,
    values: [bucket.key, secondsPerToken(bucket), bucket.refillSeconds],
  });
  return rows[0]?.at ?? now;
}

/** Takes one token from each bucket, or from none. */
export async function takeTokens(db: Queryable, buckets: readonly Bucket[], now: Date): Promise<Date | null> {
  for (const [index, bucket] of buckets.entries()) {
    const wait = await takeToken(db, bucket, now);
    if (wait === null) continue;
    await giveTokensBack(db, buckets.slice(0, index));
    return wait;
  }
  return null;
}

export async function giveTokensBack(db: Queryable, buckets: readonly Bucket[]): Promise<void> {
  for (const bucket of buckets) {
    await db.query({
      name: "token-bucket.give-back",
      text: "UPDATE rate_limit SET full_at = full_at - make_interval(secs => $2) WHERE key = $1",
      values: [bucket.key, secondsPerToken(bucket)],
    });
  }
}

/** Deletes one batch of buckets that are full; answers how many. */
export async function sweepTokenBuckets(db: Queryable, now: Date, batch: number): Promise<number> {
  const { rowCount } = await db.query({
    name: "token-bucket.sweep",
    text: `DELETE FROM rate_limit WHERE key = ANY (ARRAY(
             SELECT key FROM rate_limit WHERE full_at < $1 ORDER BY full_at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
    values: [now, batch],
  });
  return rowCount ?? 0;
}

/** Units: whole seconds from now, at least one, as `Retry-After` says them. */
export const secondsUntil = (wait: Date, now: Date): number =>
  Math.max(1, Math.ceil((wait.getTime() - now.getTime()) / 1000));
