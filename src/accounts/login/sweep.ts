import { removeInBatches } from "../../platform/jobs/batches.ts";
import { columnNames, type Queryable, run, sql, statement, table, update } from "../../platform/database/sql.ts";
import { sweepTokenBuckets } from "../../platform/database/token-bucket.ts";

const deviceDays = 180;

const limit = table("signInBrake");
const unused = table("signInPlace");
const old = table("signInPlace", "old");
const login = table("credential", "login");
const free = table("credential", "free");
const wrong = table("wrongPassword");
const wrongKey = columnNames("wrongPassword", "key", "hour");
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
    WITH forgotten AS (
      DELETE FROM ${old} USING (
        SELECT ${deviceKey} FROM ${unused}
        WHERE ${unused.lastUsedAt} < ${now}::timestamptz - make_interval(days => ${deviceDays})
        LIMIT ${batch}) AS gone (id, hash)
      WHERE ${old.personId} = gone.id AND ${old.device} = gone.hash
      RETURNING ${old.personId} AS person_id),
    remembered AS (${update("credential", "login", { hasSignedIn: sql`true` })} WHERE ${login.personId} IN (
      SELECT ${free.personId} FROM ${free} WHERE NOT ${free.hasSignedIn}
        AND ${free.personId} IN (SELECT person_id FROM forgotten) FOR UPDATE SKIP LOCKED))
    SELECT FROM forgotten`,
  "sweep-known-devices",
);

// A row holds an hour, so 25 hours cover the last day.
const deleteWrongPasswords = statement<Batch>(
  ({ now, batch }) => sql`
    DELETE FROM ${wrong} WHERE (${wrongKey}) IN (
      SELECT ${wrongKey} FROM ${wrong} WHERE ${wrong.hour} < ${now}::timestamptz - interval '25 hours' LIMIT ${batch})`,
  "sweep-wrong-passwords",
);

/** Deletes forgotten tries, old wrong passwords, full buckets and devices unused for half a year. Returns how many. */
export async function sweepSignInTraces(db: Queryable, now: Date, signal: AbortSignal): Promise<number> {
  const limits = await removeInBatches(signal, (batch) => run(db, deleteLimits, { now, batch }));
  const devices = await removeInBatches(signal, (batch) => run(db, deleteDevices, { now, batch }));
  const wrongPasswords = await removeInBatches(signal, (batch) => run(db, deleteWrongPasswords, { now, batch }));
  return (
    limits + devices + wrongPasswords + (await removeInBatches(signal, (batch) => sweepTokenBuckets(db, now, batch)))
  );
}
