import { workInBatches } from "../../platform/jobs/batches.ts";
import { columnNames, makeRun, type Queryable, sql, table, update } from "../../platform/database/sql.ts";
import { sweepTokenBuckets } from "../../platform/database/token-bucket.ts";

const deviceDays = 180;
const userNameDays = 365;

const limit = table("signInBrake");
const unused = table("signInPlace");
const old = table("signInPlace", "old");
const login = table("credential", "login");
const free = table("credential", "free");
const wrong = table("wrongPassword");
const wrongKey = columnNames("wrongPassword", "key", "hour");
const deviceKey = columnNames("signInPlace", "personId", "device");

type Batch = { now: Date; batch: number };

const deleteLimits = makeRun<Batch>("sweep-sign-in-limits")`
    DELETE FROM ${limit} WHERE ${limit.key} = ANY (ARRAY(
      SELECT ${limit.key} FROM ${limit} WHERE ${limit.forgetAt} < ${"now"} LIMIT ${"batch"} FOR UPDATE SKIP LOCKED))`;

// Locks the logins first, as a sign-in does. Devices of logins that are in use wait for the next run, so that the time
// of the last sign-in is never lost.
const deleteDevices = makeRun<Batch>("sweep-known-devices")`
    WITH unused AS MATERIALIZED (
      SELECT ${deviceKey} FROM ${unused}
      WHERE ${unused.lastUsedAt} < ${"now"}::timestamptz - make_interval(days => ${deviceDays})
      LIMIT ${"batch"}),
    free AS MATERIALIZED (
      SELECT ${free.personId} FROM ${free} WHERE ${free.personId} IN (SELECT person_id FROM unused)
      FOR UPDATE SKIP LOCKED),
    forgotten AS (
      DELETE FROM ${old} USING unused AS gone (id, hash)
      WHERE ${old.personId} = gone.id AND ${old.device} = gone.hash 
        AND (gone.id IN (SELECT person_id FROM free)
          OR NOT EXISTS (SELECT FROM ${login} WHERE ${login.personId} = gone.id))
      RETURNING ${old.personId} AS person_id, ${old.lastUsedAt} AS at),
    remembered AS (${update("credential", "login", {
      hasSignedIn: sql`true`,
      forgottenSignInAt: sql`greatest(CASE WHEN ${login.hasSignedIn} THEN ${login.forgottenSignInAt} END, latest.at)`,
    })}
      FROM (SELECT person_id, max(at) AS at FROM forgotten GROUP BY person_id) AS latest
      WHERE ${login.personId} = latest.person_id)
    SELECT FROM forgotten`;

// A row holds an hour, so 25 hours cover the last day.
const deleteWrongPasswords = makeRun<Batch>("sweep-wrong-passwords")`
    DELETE FROM ${wrong} WHERE (${wrongKey}) IN (
      SELECT ${wrongKey} FROM ${wrong} WHERE ${wrong.hour} < ${"now"}::timestamptz - interval '25 hours'
        LIMIT ${"batch"})`;

const released = table("userName");
const counted = table("userNameNumber");
const forgetUserNames = makeRun<Batch>("forget-user-names")`
    DELETE FROM ${released} WHERE ${released.hash} = ANY (ARRAY(
      SELECT hash FROM ${released} WHERE ${released.releasedOn} < ${"now"}::date - ${userNameDays} LIMIT ${"batch"}))`;
const forgetNumbers = makeRun<Batch>("forget-user-name-numbers")`
    DELETE FROM ${counted} WHERE ${counted.hash} = ANY (ARRAY(
      SELECT hash FROM ${counted} WHERE ${counted.usedOn} < ${"now"}::date - ${userNameDays} LIMIT ${"batch"}))`;

const kinds = [deleteLimits, deleteDevices, deleteWrongPasswords, forgetUserNames, forgetNumbers, sweepTokenBuckets];

/**
 * Deletes forgotten tries, old wrong passwords, full buckets, devices unused for half a year, and hashes of user names
 * a year after their person. Returns how many.
 */
export async function sweepSignInTraces(db: Queryable, now: Date, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (const sweep of kinds) removed += await workInBatches(signal, (batch) => sweep(db, { now, batch }));
  return removed;
}
