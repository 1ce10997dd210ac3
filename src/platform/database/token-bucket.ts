import { columnNames, findRows, identifier, join, makeFind, makeRun, sql, statement, table } from "./sql.ts";
import { asynchronous, type Parameter, type Parameters, type Queryable, type Sql, type Value } from "./sql.ts";

export type Bucket = { key: Buffer; capacity: number; refillSeconds: number };

/** What is valid for `seconds` is used once: the bucket refills after it has expired. */
export const singleUse = (key: Buffer, seconds: number): Bucket => ({ key, capacity: 1, refillSeconds: 2 * seconds });

const secondsPerToken = ({ capacity, refillSeconds }: Bucket): number => refillSeconds / capacity;

const limit = table("rateLimit");
const bucketRow = table("rateLimit", "bucket");
const [key, fullAt] = [columnNames("rateLimit", "key"), columnNames("rateLimit", "fullAt")];
const seconds = (value: Value) => sql`make_interval(secs => ${value})`;

/** SQL condition: a wrong clock wrote the stored time. The extra minute allows for queued requests. */
export const isTooFarAhead = (time: Sql, { now, longestSeconds }: { now: Value; longestSeconds: Value }): Sql =>
  sql`${time} > ${now}::timestamptz + ${seconds(longestSeconds)} + interval '1 minute'`;

export type BucketParameters = { keys: Buffer[]; perTokens: number[]; refills: number[] };

export const toBucketParameters = (buckets: readonly Bucket[]): BucketParameters => ({
  keys: buckets.map((bucket) => bucket.key),
  perTokens: buckets.map(secondsPerToken),
  refills: buckets.map(({ refillSeconds }) => refillSeconds),
});

type Params = Parameters<BucketParameters>;

const bucketAt = (params: Params, index: number) => ({
  key: sql`(${params.keys}::bytea[])[${index}]`,
  perToken: seconds(sql`(${params.perTokens}::float8[])[${index}]`),
  refillSeconds: sql`(${params.refills}::float8[])[${index}]`,
});

const takeAt = (params: Params & { now: Parameter }, index: number, condition: Sql): Sql => {
  const { key: bucketKey, perToken, refillSeconds } = bucketAt(params, index);
  const now = sql`${params.now}::timestamptz`;
  const isAhead = isTooFarAhead(bucketRow.fullAt, { now, longestSeconds: refillSeconds });
  return sql`
    INSERT INTO ${limit} AS bucket (${key}, ${fullAt})
    SELECT ${bucketKey}, ${now} + ${perToken} WHERE ${condition}
    ON CONFLICT (${key})
    DO UPDATE SET ${fullAt} = ${perToken} + CASE WHEN ${isAhead} THEN ${now} ELSE greatest(${bucketRow.fullAt}, ${now}) END
    WHERE ${bucketRow.fullAt} + ${perToken} <= ${now} + ${seconds(refillSeconds)} OR ${isAhead}
    RETURNING 1`;
};

const giveBackAt = (params: Params, index: number, condition: Sql): Sql => {
  const { key: bucketKey, perToken } = bucketAt(params, index);
  return sql`
    UPDATE ${bucketRow} SET ${fullAt} = ${bucketRow.fullAt} - ${perToken}
    WHERE ${bucketRow.key} = ${bucketKey} AND ${condition}
    RETURNING 1`;
};

type BucketSteps = { steps: Sql[]; isDone: Sql; count: Sql };

// Each step names the one before it in its condition, so that all statements lock the buckets in their order.
function makeSteps(
  prefix: string,
  count: number,
  { first, make, after }: { first: Sql; make: (index: number, condition: Sql) => Sql; after: (step: Sql) => Sql },
): BucketSteps {
  const names = Array.from({ length: count }, (_, index) => identifier(`${prefix}_${index + 1}`));
  const conditionAt = (index: number): Sql => (index === 0 ? first : after(names[index - 1]!));
  return {
    steps: names.map((name, index) => sql`${name} AS (${make(index + 1, conditionAt(index))})`),
    isDone: conditionAt(count),
    count: join([sql`0`, ...names.map((name) => sql`(SELECT count(*) FROM ${name})::int`)], " + "),
  };
}

/** For a statement that is its own transaction: it does not wait for the disk; a crash may lose all that it writes. */
export function takeSteps(params: Params & { now: Parameter }, count: number): BucketSteps {
  const made = takeStepsInTransaction(params, count);
  return count === 0 ? made : { ...made, count: sql`CASE WHEN ${asynchronous} THEN ${made.count} END` };
}

const takeStepsInTransaction = (params: Params & { now: Parameter }, count: number): BucketSteps =>
  makeSteps("taken", count, {
    first: sql`true`,
    make: (index, condition) => takeAt(params, index, condition),
    after: (step) => sql`EXISTS (SELECT FROM ${step})`,
  });

export const giveBackSteps = (params: Params, count: number, condition: Sql): BucketSteps =>
  makeSteps("given_back", count, {
    first: condition,
    make: (index, after) => giveBackAt(params, index, after),
    after: (step) => sql`(${condition} AND (SELECT count(*) FROM ${step}) >= 0)`,
  });

export const makeForCount = <Made>(make: (count: number) => Made): ((count: number) => Made) => {
  const made = new Map<number, Made>();
  return (count) => made.get(count) ?? made.set(count, make(count)).get(count)!;
};

/** Makes a function that runs a statement with any number of buckets and returns its rows. */
export function makeFindWithBuckets<Row extends Record<string, unknown>, Params extends object = object>(
  build: (params: Parameters<Params & BucketParameters>, count: number) => Sql,
  name: string,
): (db: Queryable, buckets: readonly Bucket[], params: Params) => Promise<Row[]> {
  const forCount = makeForCount((count) =>
    statement<Params & BucketParameters>((params) => build(params, count), `${name}.${count}`),
  );
  return (db, buckets, params) =>
    findRows<Row, Params & BucketParameters>(db, forCount(buckets.length), {
      ...params,
      ...toBucketParameters(buckets),
    });
}

const take = makeFindWithBuckets<{ taken: number }, { now: Date }>((params, count) => {
  const { steps, count: taken } = takeStepsInTransaction(params, count);
  return sql`WITH ${join(steps)} SELECT ${taken} AS taken`;
}, "token-bucket.take");

const giveBack = makeFindWithBuckets((params, count) => {
  const { steps, count: met } = giveBackSteps(params, count, sql`true`);
  return sql`WITH ${join(steps)} SELECT ${met} AS met`;
}, "token-bucket.give-back");

const findWait = makeFind<{ at: Date }, { key: Buffer; perToken: number; refill: number }>("token-bucket.wait")`
  SELECT ${limit.fullAt} + ${(params) => seconds(params.perToken)} - ${(params) => seconds(params.refill)} AS at
  FROM ${limit} WHERE ${limit.key} = ${"key"}`;

export const sweepTokenBuckets = makeRun<{ now: Date; batch: number }>("token-bucket.sweep")`
  DELETE FROM ${limit} WHERE ${limit.key} = ANY (ARRAY(
    SELECT ${limit.key} FROM ${limit} WHERE ${limit.fullAt} < ${"now"}
    ORDER BY ${limit.fullAt} LIMIT ${"batch"} FOR UPDATE SKIP LOCKED))`;

/** Returns when there is a token again, without prolonging the wait. Source: GCRA (ITU-T I.371). */
export const takeToken = (db: Queryable, bucket: Bucket, now: Date): Promise<Date | null> =>
  takeTokens(db, [bucket], now);

export async function takeTokens(db: Queryable, buckets: readonly Bucket[], now: Date): Promise<Date | null> {
  if (buckets.length === 0) return null;
  const [row] = await take(db, buckets, { now });
  return row!.taken === buckets.length ? null : undoTake(db, buckets, row!.taken, now);
}

export async function undoTake(db: Queryable, buckets: readonly Bucket[], taken: number, now: Date): Promise<Date> {
  await giveTokensBack(db, buckets.slice(0, taken));
  const empty = buckets[taken]!;
  const [row] = await findWait(db, { key: empty.key, perToken: secondsPerToken(empty), refill: empty.refillSeconds });
  return row?.at ?? now;
}

export async function giveTokensBack(db: Queryable, buckets: readonly Bucket[]): Promise<void> {
  if (buckets.length > 0) await giveBack(db, buckets, {});
}

export const secondsUntil = (wait: Date, now: Date): number =>
  Math.max(1, Math.ceil((wait.getTime() - now.getTime()) / 1000));
