import type { Queryable } from "../../platform/db.ts";
import { columnNames, run, sql, statement, table } from "../../platform/sql.ts";
import { sweepTokenBuckets } from "../../platform/token-bucket.ts";

const deviceDays = 180;
const batch = 5_000;

const limit = table("signInBrake");
const unused = table("signInPlace");
const old = table("signInPlace", "old");
const deviceKey = columnNames("signInPlace", "personId", "device");

const deleteLimits = statement<{ now: Date }>(
  ({ now }) => sql`
    DELETE FROM ${limit} WHERE ${limit.key} = ANY (ARRAY(
      SELECT ${limit.key} FROM ${limit} WHERE ${limit.forgetAt} < ${now} LIMIT ${batch} FOR UPDATE SKIP LOCKED))`,
  "sweep-sign-in-limits",
);

const deleteDevices = statement<{ now: Date }>(
  ({ now }) => sql`
    DELETE FROM ${old} USING (
      SELECT ${deviceKey} FROM ${unused}
      WHERE ${unused.lastUsedAt} < ${now}::timestamptz - make_interval(days => ${deviceDays})
      LIMIT ${batch}) AS gone (id, hash)
    WHERE ${old.personId} = gone.id AND ${old.device} = gone.hash`,
  "sweep-known-devices",
);

/** Deletes forgotten tries, full buckets and devices unused for half a year; one batch each. Answers how many rows. */
export async function sweepSignInTraces(db: Queryable, now: Date): Promise<number> {
  const limits = await run(db, deleteLimits, { now });
  const devices = await run(db, deleteDevices, { now });
  return limits + devices + (await sweepTokenBuckets(db, now, batch));
}
