import { addDays, type Clock } from "../../platform/clock.ts";
import { withTransaction, type Db } from "../../platform/database/db.ts";
import { columnNames, insert, makeFind, makeRun, sql, table } from "../../platform/database/sql.ts";
import type { Columns, Sql, Value } from "../../platform/database/sql.ts";
import { workInBatches } from "../../platform/jobs/batches.ts";
import type { WorkerJob } from "../../platform/jobs/worker.ts";
import type { ClientId } from "../token.ts";
import { everybodyAtSchools } from "../synced-people.ts";
import { fromSchoolsLettingIn, isSyncedAs, wasSoftDeletedBefore } from "../visibility.ts";
import { makeListBySchool, firstDayOf, monthOf } from "./by-school.ts";

const seat = table("seat");
const part = table("seat", "part");
const excluded = table("seat", "excluded");
const school = table("school", "at_school");
const choice = table("schoolChoice", "chosen");
const p = table("person", "seat_person");
const grant = table("grant", "g");
const period = table("disclosurePeriod", "period");
const later = table("disclosurePeriod", "later");

/** SQL: the school at which a person signs in to an app: their choice among those that let them in, or the only one. */
export const schoolOfSignOn = (client: Value, person: Columns<"id" | "role" | "seenBy">): Sql => sql`
  SELECT ${school.id} FROM (SELECT v_at.school_id ${fromSchoolsLettingIn(client, person)}) AS through
  JOIN ${school} ON ${school.id} = through.school_id
  ORDER BY ${school.id} = (
    SELECT ${choice.schoolId} FROM ${choice} WHERE ${choice.clientId} = ${client} AND ${choice.personId} = ${person.id}
  ) DESC NULLS LAST, ${school.id} LIMIT 1 FOR KEY SHARE OF at_school SKIP LOCKED`;

const key = columnNames("seat", "month", "clientId", "schoolId", "change");

/** INSERT that counts first sign-ins of a month, from a relation of client_id, person_id and at. */
export const countSignInsFrom = (relation: Sql): Sql => sql`
  ${insert(
    "seat",
    {
      month: firstDayOf(sql`signed_in.at`),
      clientId: sql`signed_in.client_id`,
      schoolId: sql`through.id`,
      change: sql`pg_current_xact_id()::text`,
      signedIn: sql`count(*)::int`,
    },
    sql`FROM ${relation} AS signed_in JOIN ${p} ON ${p.id} = signed_in.person_id
    CROSS JOIN LATERAL (${schoolOfSignOn(sql`signed_in.client_id`, p)}) AS through GROUP BY 1, 2, 3, 4`,
  )}
  ON CONFLICT (${key}) DO UPDATE SET ${columnNames("seat", "signedIn")} = ${seat.signedIn} + ${excluded.signedIn}`;

const addUp = makeRun<{ batch: number }>("access.addUpSeats")`
  WITH gone AS (
    DELETE FROM ${part} WHERE part.ctid = ANY (ARRAY(SELECT ctid FROM ${seat} WHERE ${seat.change} <> ''
      LIMIT ${"batch"}))
    RETURNING ${part.month}, ${part.clientId}, ${part.schoolId}, ${part.signedIn}, ${part.synced})
  ${insert(
    "seat",
    {
      month: sql`gone.month`,
      clientId: sql`gone.client_id`,
      schoolId: sql`gone.school_id`,
      change: sql`''`,
      signedIn: sql`sum(gone.signed_in)::int`,
    },
    sql`FROM gone GROUP BY 1, 2, 3, 4`,
  )}
  ON CONFLICT (${key}) DO UPDATE SET ${columnNames("seat", "signedIn")} = ${seat.signedIn} + ${excluded.signedIn}`;

const listSyncingApps = makeFind<{ clientId: ClientId }>("access.listSyncingApps")`
  SELECT DISTINCT ${grant.clientId} AS "clientId" FROM ${grant} WHERE ${grant.sync} ORDER BY 1`;

// Whom the app sees now, unless it began after the month, if that is over, and whom it saw in the month. Never lowers
// what was counted before: of people who were deleted for good there is no period.
const countSynced = makeRun<{ clientId: ClientId; month: Date; now: Date }>(({ clientId, month, now }) => {
  const end = sql`${monthOf(month)} + interval '1 month'`;
  return sql`
  ${insert(
    "seat",
    {
      month: firstDayOf(month),
      clientId,
      schoolId: sql`seen.school_id`,
      change: sql`''`,
      synced: sql`count(DISTINCT seen.person_id)::int`,
    },
    sql`FROM (
      SELECT at.school_id, at.person_id FROM (${everybodyAtSchools(clientId)}) AS at
      WHERE ${isSyncedAs({ isMember: sql`at.is_member`, personId: sql`at.person_id` }, clientId, sql`at.school_id`)}
        AND NOT ${wasSoftDeletedBefore(monthOf(month), sql`at.person_id`)}
        AND (${end} > ${now} OR NOT EXISTS (
          SELECT FROM ${later} WHERE ${later.personId} = at.person_id AND ${later.clientId} = ${clientId}
            AND ${later.since} >= ${end} AND ${later.until} IS NULL))
      UNION ALL
      SELECT ${grant.schoolId}, ${period.personId} FROM ${period} CROSS JOIN unnest(${period.schoolIds}) AS of (school_id)
      JOIN ${grant} ON ${grant.clientId} = ${period.clientId} AND ${grant.schoolId} = of.school_id AND ${grant.sync}
      WHERE ${period.clientId} = ${clientId} AND ${period.isPerson} AND ${period.until} >= ${monthOf(month)}
        AND ${period.since} < ${end}) AS seen GROUP BY seen.school_id`,
  )}
  ON CONFLICT (${key}) DO UPDATE SET ${columnNames("seat", "synced")} = greatest(${seat.synced}, ${excluded.synced})`;
}, "access.countSynced");

const makeSweep = (name: "seat" | "accessReport") => {
  const [gone, old] = [table(name, "gone"), table(name, "old")];
  return makeRun<{ before: Date; batch: number }>(`access.sweepOld_${name}`)`
    DELETE FROM ${gone} WHERE gone.ctid = ANY (ARRAY(
      SELECT old.ctid FROM ${old} WHERE ${old.month} < ${({ before }) => firstDayOf(before)} ORDER BY ${old.month}
        LIMIT ${"batch"}))`;
};
const sweeps = [makeSweep("seat"), makeSweep("accessReport")];

type CountDeps = { db: Db; clock: Clock; recordDays: number };

/** Counts the people of this month, and on its first day once more those of the month before. */
export const makeSeatCount = ({ db, clock, recordDays }: CountDeps): WorkerJob => ({
  name: "access.countSeats",
  everySeconds: 6 * 3600,
  async run(signal) {
    const now = clock();
    await workInBatches(signal, (batch) => addUp(db.pool, { batch }));
    const yesterday = addDays(now, -1);
    const months = yesterday.getUTCMonth() === now.getUTCMonth() ? [now] : [yesterday, now];
    for (const { clientId } of await listSyncingApps(db.pool, {}))
      for (const month of months) {
        signal.throwIfAborted();
        await withTransaction(db, async (tx) => {
          await tx.query("SET LOCAL statement_timeout = '15min'");
          await countSynced(tx, { clientId, month, now });
        });
      }
    for (const sweep of sweeps)
      await workInBatches(signal, (batch) => sweep(db.pool, { before: addDays(now, -recordDays), batch }));
  },
});

export type SeatCounts = Record<"signedIn" | "synced", number>;

export const listSeats = makeListBySchool<SeatCounts, { month: Date }>("access.listSeats", {
  of: seat,
  counts: () => ({ signedIn: sql`sum(${seat.signedIn})::int`, synced: sql`sum(${seat.synced})::int` }),
  from: ({ month }) => sql`FROM ${seat} WHERE ${seat.month} = ${firstDayOf(month)}`,
});
