import { addDays, type Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/db.ts";
import { run, sql, statement, table, exists } from "../../platform/database/sql.ts";
import { removeInBatches } from "../../platform/jobs/batches.ts";
import type { WorkerJob } from "../../platform/jobs/worker.ts";

const gone = table("disclosurePeriod", "gone");
const old = table("disclosurePeriod", "old");
const app = table("app", "app");
const retired = table("retiredClientId", "retired");
const registration = table("registrationPeriod", "registration");
const ended = table("registrationPeriod", "ended");
const later = table("registrationPeriod", "later");

type Batch = { before: Date; batch: number };

// The periods of a deleted app ended with it, whatever their rows say.
const removePeriods = statement<Batch>(
  ({ before, batch }) => sql`
  DELETE FROM ${gone} WHERE gone.ctid = ANY (ARRAY(
    SELECT found.place FROM (
      SELECT ${app.clientId}, false AS is_gone FROM ${app}
      UNION ALL SELECT ${retired.clientId}, ${retired.retiredAt} < ${before} FROM ${retired}) AS each (client_id, is_gone)
    CROSS JOIN LATERAL (
      (SELECT old.ctid FROM ${old} WHERE ${old.clientId} = each.client_id AND ${old.until} < ${before}
       ORDER BY ${old.clientId}, ${old.until} LIMIT ${batch})
      UNION ALL
      (SELECT old.ctid FROM ${old} WHERE ${old.clientId} = each.client_id AND each.is_gone AND ${old.until} IS NULL
       ORDER BY ${old.clientId}, ${old.until} LIMIT ${batch})) AS found (place)
    LIMIT ${batch}))`,
  "access.sweepDisclosures",
);

// The last registration of a deleted app names it as long as it has periods.
const removeRegistrations = statement<Batch>(
  ({ before, batch }) => sql`
  DELETE FROM ${registration} WHERE registration.ctid = ANY (ARRAY(
    SELECT ended.ctid FROM ${ended}
    WHERE ${ended.until} < ${before}
      AND (${exists(sql`${later} WHERE ${later.clientId} = ${ended.clientId} AND ${later.since} > ${ended.since}`)}
        OR (SELECT true FROM ${old} WHERE ${old.clientId} = ${ended.clientId}
          ORDER BY ${old.clientId}, ${old.until} LIMIT 1) IS NULL)
    ORDER BY ${ended.until} LIMIT ${batch}))`,
  "access.sweepRegistrations",
);

const held = table("withheldPeriod", "held");
const removeWithheld = statement<Batch>(
  ({ before, batch }) => sql`
  DELETE FROM ${table("withheldPeriod", "gone")} WHERE gone.ctid = ANY (ARRAY(
    SELECT held.ctid FROM ${held} WHERE ${held.until} < ${before} ORDER BY ${held.until} LIMIT ${batch}))`,
  "access.sweepWithheldPeriods",
);

type Deps = { db: Db; clock: Clock; recordDays: number };

/** Removes what apps could read, a time after they no longer could. */
export const makeDisclosureSweep = ({ db, clock, recordDays }: Deps): WorkerJob => ({
  name: "access.sweepDisclosures",
  everySeconds: 3600,
  async run(signal) {
    const before = addDays(clock(), -recordDays);
    for (const remove of [removePeriods, removeRegistrations, removeWithheld])
      await removeInBatches(signal, (batch) => run(db.pool, remove, { before, batch }));
  },
});
