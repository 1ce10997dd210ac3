import type { Queryable } from "./db.ts";
import { columnNames, findRows, run, sql, statement, table, type Sql, type Value } from "./sql.ts";

/** A rate limit: a burst of `capacity`, refilled evenly within `refillSeconds`. */
export type Bucket = { key: Buffer; capacity: number; refillSeconds: number };

const secondsPerToken = ({ capacity, refillSeconds }: Bucket): number => refillSeconds / capacity;

const limit = table("rateLimit");
const bucketRow = table("rateLimit", "bucket");
const [key, fullAt] = [columnNames("rateLimit", "key"), columnNames("rateLimit", "fullAt")];
const seconds = (value: Value) => sql`make_interval(secs => ${value})`;

type Given = { key: Buffer; now: Date; perToken: number; refill: number };

/**
 * SQL condition: the stored time is further ahead than any limit allows, so a wrong clock wrote it. Without this,
 * others would stay locked out. The extra minute allows for queued requests with an older time.
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
 * Takes one token. If there is none, writes nothing and returns when there is one, so that asking does not prolong the
 * wait.
 *
 * Source: generic cell rate algorithm (ITU-T I.371).
 */
export async function takeToken(db: Queryable, bucket: Bucket, now: Date): Promise<Date | null> {
  const given = { key: bucket.key, perToken: secondsPerToken(bucket), refill: bucket.refillSeconds };
  if ((await run(db, take, { ...given, now })) === 1) return null;
  const [row] = await findRows<{ at: Date }, Omit<Given, "now">>(db, findWait, given);
  return row?.at ?? now;
}

/** Takes one token from each bucket or from none. */
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

export function sweepTokenBuckets(db: Queryable, now: Date, batch: number): Promise<number> {
  return run(db, sweep, { now, batch });
}

/** Units: whole seconds, at least one, for `Retry-After`. */
export const secondsUntil = (wait: Date, now: Date): number =>
  Math.max(1, Math.ceil((wait.getTime() - now.getTime()) / 1000));
