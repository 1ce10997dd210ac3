import type { Queryable } from "./db.ts";
import { columnNames, findRows, run, sql, statement, table, type Sql, type Value } from "./sql.ts";

/**
 * How often something may happen.
 *
 * Shape: `capacity` at once; what was taken comes back evenly, all of it within `refillSeconds`.
 */
export type Bucket = { key: Buffer; capacity: number; refillSeconds: number };

const secondsPerToken = ({ capacity, refillSeconds }: Bucket): number => refillSeconds / capacity;

const limit = table("rateLimit");
const bucketRow = table("rateLimit", "bucket");
const [key, fullAt] = [columnNames("rateLimit", "key"), columnNames("rateLimit", "fullAt")];
const seconds = (value: Value) => sql`make_interval(secs => ${value})`;

type Given = { key: Buffer; now: Date; perToken: number; refill: number };

/**
 * SQL condition: a time that lies further ahead than any limit sets it, so that a clock was wrong when it was written.
 * Without this, one process with a wrong clock would lock others out for as long as it was ahead. The minute is for
 * tries that were queued, which come with an older time.
 */
export const isTooFarAhead = (time: Sql, { now, longestSeconds }: { now: Value; longestSeconds: Value }): Sql =>
  sql`${time} > ${now}::timestamptz + ${seconds(longestSeconds)} + interval '1 minute'`;

const take = statement<Given>(
  (given) => sql`
  INSERT INTO ${limit} AS bucket (${key}, ${fullAt})
  VALUES (${given.key}, ${given.now}::timestamptz + ${seconds(given.perToken)})
  ON CONFLICT (${key})
  DO UPDATE SET ${fullAt} = ${seconds(given.perToken)} + CASE
    WHEN ${isTooFarAhead(bucketRow.fullAt, { now: given.now, longestSeconds: given.refill })} THEN ${given.now}
    ELSE greatest(${bucketRow.fullAt}, ${given.now}) END
  WHERE ${bucketRow.fullAt} + ${seconds(given.perToken)} <= ${given.now}::timestamptz + ${seconds(given.refill)}
    OR ${isTooFarAhead(bucketRow.fullAt, { now: given.now, longestSeconds: given.refill })}`,
  "token-bucket.take",
);

const findWait = statement<Omit<Given, "now">>(
  (given) => sql`
  SELECT ${limit.fullAt} + ${seconds(given.perToken)} - ${seconds(given.refill)} AS at
  FROM ${limit} WHERE ${limit.key} = ${given.key}`,
  "token-bucket.wait",
);

const giveBack = statement<Pick<Given, "key" | "perToken">>(
  (given) => sql`
  UPDATE ${bucketRow} SET ${fullAt} = ${bucketRow.fullAt} - ${seconds(given.perToken)}
  WHERE ${bucketRow.key} = ${given.key}`,
  "token-bucket.give-back",
);

const sweep = statement<{ now: Date; batch: number }>(
  ({ now, batch }) => sql`
  DELETE FROM ${limit} WHERE ${limit.key} = ANY (ARRAY(
    SELECT ${limit.key} FROM ${limit} WHERE ${limit.fullAt} < ${now}
    ORDER BY ${limit.fullAt} LIMIT ${batch} FOR UPDATE SKIP LOCKED))`,
  "token-bucket.sweep",
);

/**
 * Takes one token; where there is none, nothing is written, so that asking does not make the wait longer.
 *
 * Shape:  null when it was taken, else the time at which there is one again.
 * Source: the generic cell rate algorithm (ITU-T I.371): one time per bucket says how full it is.
 */
export async function takeToken(db: Queryable, bucket: Bucket, now: Date): Promise<Date | null> {
  const given = { key: bucket.key, perToken: secondsPerToken(bucket), refill: bucket.refillSeconds };
  if ((await run(db, take, { ...given, now })) === 1) return null;
  const [row] = await findRows<{ at: Date }, Omit<Given, "now">>(db, findWait, given);
  return row?.at ?? now;
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
  for (const bucket of buckets) await run(db, giveBack, { key: bucket.key, perToken: secondsPerToken(bucket) });
}

/** Deletes one batch of buckets that are full; answers how many. */
export function sweepTokenBuckets(db: Queryable, now: Date, batch: number): Promise<number> {
  return run(db, sweep, { now, batch });
}

/** Units: whole seconds from now, at least one, as `Retry-After` says them. */
export const secondsUntil = (wait: Date, now: Date): number =>
  Math.max(1, Math.ceil((wait.getTime() - now.getTime()) / 1000));
