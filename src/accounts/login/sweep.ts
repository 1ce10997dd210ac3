import { removeInBatches } from "../../platform/jobs/batches.ts";
import { columnNames, type Queryable, run, sql, statement, table } from "../../platform/database/sql.ts";
import { sweepTokenBuckets } from "../../platform/database/token-bucket.ts";

const deviceDays = 180;

const limit = table("signInBrake");
const unused = table("signInPlace");
const old = table("signInPlace", "old");
const deviceKey = columnNames("signInPlace", "personId", "device");

type Batch = { now: Date; batch: number };

const deleteLimits = statement<Batch>(
  ({ now, batch }) => sql`
    DELETE FROM ${limit} WHERE ${limit.key} = ANY (ARRAY(
      SELECT ${limit.key} FROM ${limit} WHERE ${limit.forgetAt} < ${now} LIMIT ${batch} FOR UPDATE SKIP LOCKED))`,
  "sweep-sign-in-limits",
);

const deleteDevices = statement<Batch>(
  ({ now, batch }) => sql`
    DELETE FROM ${old} USING (
      SELECT ${deviceKey} FROM ${unused}
      WHERE ${unused.lastUsedAt} < ${now}::timestamptz - make_interval(days => ${deviceDays})
      LIMIT ${batch}) AS gone (id, hash)
    WHERE ${old.personId} = gone.id AND ${old.device} = gone.hash`,
  "sweep-known-devices",
);

/** Deletes forgotten tries, full buckets and devices unused for half a year. Returns how many rows. */
export async function sweepSignInTraces(db: Queryable, now: Date, signal: AbortSignal): Promise<number> {
  const limits = await removeInBatches(signal, (batch) => run(db, deleteLimits, { now, batch }));
  const devices = await removeInBatches(signal, (batch) => run(db, deleteDevices, { now, batch }));
  return limits + devices + (await removeInBatches(signal, (batch) => sweepTokenBuckets(db, now, batch)));
}
