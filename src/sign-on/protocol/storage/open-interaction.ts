import { findRows, join, type Queryable, sql, statement, jsonRows } from "../../../platform/database/sql.ts";
import {
  type Bucket,
  type BucketParameters,
  makeForCount,
  takeSteps,
  toBucketParameters,
  undoTake,
} from "../../../platform/database/token-bucket.ts";
import { type Artifact, rowTypes, storeArtifacts, toRow } from "./artifact.ts";

type Opened = BucketParameters & { now: Date; interactions: string };

const openStatement = makeForCount((count) =>
  statement<Opened>((given) => {
    const { steps, isDone, count: taken } = takeSteps(given, count);
    const { from, columns } = jsonRows(given.interactions, "put", rowTypes);
    const put = sql`put AS (${storeArtifacts(columns, sql`${from} WHERE ${isDone}`)})`;
    return sql`WITH ${join([...steps, put])} SELECT ${taken} AS taken`;
  }, `sign-on.openInteraction.${count}`),
);

/** Stores an interaction and takes a token from each bucket, or returns when there is a token again. */
export async function openInteraction(
  db: Queryable,
  interaction: Artifact,
  { buckets, now }: { buckets: readonly Bucket[]; now: Date },
): Promise<Date | null> {
  const given = { ...toBucketParameters(buckets), now, interactions: JSON.stringify([toRow(interaction)]) };
  const [row] = await findRows<{ taken: number }>(db, openStatement(buckets.length), given);
  return row!.taken === buckets.length ? null : undoTake(db, buckets, row!.taken, now);
}
