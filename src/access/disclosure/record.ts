import type { SchoolId } from "../../directory/index.ts";
import { addDays, type Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/db.ts";
import { columnNames, exists, insert, join, makeRun, sql, table, update } from "../../platform/database/sql.ts";
import type { Sql, Value } from "../../platform/database/sql.ts";
import { makeSweep } from "../../platform/jobs/batches.ts";
import type { ClientId } from "../token.ts";

// A row is written only where an app begins or ceases to be able to read a person, or the way changes. A person who
// can be read without an open row has been since before the history began.

const open = table("disclosurePeriod", "v_open");
const earlier = table("disclosurePeriod", "v_earlier");
const excluded = table("disclosurePeriod", "excluded");
const call = table("lastCall", "v_call");
const feed = table("eventFeed", "v_feed");
const person = table("person", "v_person");

const isOpenFor = (pair: Sql): Sql =>
  sql`${open.personId} = ${pair}.person_id AND ${open.clientId} = ${pair}.client_id AND ${open.until} IS NULL`;

const lastRead = sql`(
  SELECT max(${call.at}) FROM ${call}
  WHERE ${call.clientId} = ${open.clientId} AND ${call.schoolId} = ANY (${open.schoolIds}) AND ${call.at} >= ${open.since})`;

/** SQL: since when an app could read the person at the latest, if it can and no row says so. */
export const sinceUnrecorded = (clientId: Sql, personId: Value): Sql => sql`coalesce(
  (SELECT max(${earlier.until}) FROM ${earlier} WHERE ${earlier.personId} = ${personId} AND ${earlier.clientId} = ${clientId}),
  (SELECT ${feed.historyBeganAt} FROM ${feed}))`;

const locked = table("disclosurePeriod", "v_locked");
const isFree = sql`AND EXISTS (
    SELECT FROM ${locked} WHERE ${locked.personId} = ${open.personId} AND ${locked.clientId} = ${open.clientId}
      AND ${locked.since} = ${open.since} FOR NO KEY UPDATE SKIP LOCKED)`;

const endOpen = (now: Value, by: Writer): Sql => sql`
  ${update("disclosurePeriod", "v_open", { until: sql`greatest(${open.since}, ${now})`, lastReadAt: lastRead })}
  FROM seen_change c
  WHERE ${isOpenFor(sql`c`)} AND (${open.since} <> ${now} OR NOT (c.is_user OR c.is_person))
    ${by === "sign-in" ? isFree : sql``}`;

const beginNew = (now: Value): Sql => sql`${insert(
  "disclosurePeriod",
  {
    personId: sql`begun.person_id`,
    clientId: sql`begun.client_id`,
    since: sql`begun.since`,
    until: sql`begun.until`,
    isUser: sql`begun.is_user`,
    isPerson: sql`begun.is_person`,
    seesSchool: sql`begun.sees_school`,
    schoolIds: sql`begun.school_ids`,
  },
  sql`FROM (
    SELECT person_id, client_id, ${now}::timestamptz AS since, NULL::timestamptz AS until, is_user, is_person, sees_school,
      school_ids
    FROM seen_change WHERE is_user OR is_person
    UNION ALL
    SELECT person_id, client_id, v_since.since, ${now}, was_user, was_person, saw_school, were_school_ids
    FROM seen_change c CROSS JOIN LATERAL (SELECT ${sinceUnrecorded(sql`c.client_id`, sql`c.person_id`)}) AS v_since (since)
    WHERE (was_user OR was_person) AND v_since.since < ${now}
      AND NOT EXISTS (SELECT FROM ${open} WHERE ${isOpenFor(sql`c`)})
  ) AS begun`,
)}
  ON CONFLICT (${columnNames("disclosurePeriod", "personId", "clientId", "since")})
  DO UPDATE SET (${columnNames("disclosurePeriod", "until", "isUser", "isPerson", "seesSchool", "schoolIds")})
    = (${excluded.until}, ${excluded.isUser}, ${excluded.isPerson}, ${excluded.seesSchool}, ${excluded.schoolIds})`;

const differs = sql`(b.is_user, b.is_synced, b.school_id IS NULL, b.school_ids)
  IS DISTINCT FROM (a.is_user, a.is_synced, a.school_id IS NULL, a.school_ids)`;

/**
 * The writer of periods: a change; the same change again, for people who signed in meanwhile; or a sign-in, which skips
 * rows that a change has locked, because it must not wait and the change writes them again.
 */
export type Writer = "change" | "change-again" | "sign-in";

export const recordDisclosures = (before: Sql, after: Sql, { now, by }: { now: Value; by: Writer }): Sql =>
  sql`
  seen_change AS MATERIALIZED (
    SELECT subject_id AS person_id, client_id,
      coalesce(a.is_user, false) AS is_user, coalesce(a.is_synced, false) AS is_person, a.school_ids,
      a.school_id IS NOT NULL AS sees_school, b.school_id IS NOT NULL AS saw_school,
      coalesce(b.is_user, false) AS was_user, coalesce(b.is_synced, false) AS was_person, b.school_ids AS were_school_ids
    FROM ${before} AS b FULL JOIN ${after} AS a USING (client_id, type, subject_id)
    WHERE type = 'person' ${by === "change-again" ? sql`` : sql`AND ${differs}`}
      AND ${exists(sql`${person} WHERE ${person.id} = subject_id`)}),
  ended_periods AS (${endOpen(now, by)}),
  begun_periods AS (${beginNew(now)})`;

const app = table("app", "v_app");
const profile = table("appProfile", "v_profile");
const openRegistration = table("registrationPeriod", "v_open");
const excludedRegistration = table("registrationPeriod", "excluded");

const registered = ["name", "provider", "type", "scopes", "attributes"] as const;
const contentOf = (period: Record<(typeof registered)[number], Sql>): Sql =>
  join(registered.map((name) => period[name]));

const present = table("registrationPeriod", "present");
const { name, provider, type, scopes, attributes } = present;
const isSameRegistration = sql`(${contentOf(openRegistration)}) IS NOT DISTINCT FROM (${contentOf(present)})`;

/** Records what the app may read from now on; call it after each write and after the deletion of an app. */
export const recordRegistration = makeRun<{ clientId: ClientId; at: Date }>(
  ({ clientId, at }) => sql`
  WITH present AS (
    SELECT ${app.clientId}, ${app.name}, ${profile.provider}, ${app.type}, ${app.scopes}, ${app.attributes}
    FROM ${app} LEFT JOIN ${profile} ON ${profile.clientId} = ${app.clientId} WHERE ${app.clientId} = ${clientId}),
  ended AS (
    ${update("registrationPeriod", "v_open", { until: sql`greatest(${openRegistration.since}, ${at})` })}
    WHERE ${openRegistration.clientId} = ${clientId} AND ${openRegistration.until} IS NULL
      AND NOT EXISTS (SELECT FROM present WHERE ${isSameRegistration} OR ${openRegistration.since} = ${at}))
  ${insert(
    "registrationPeriod",
    { clientId: present.clientId, since: at, name, provider, type, scopes, attributes },
    sql`FROM present WHERE NOT EXISTS (
      SELECT FROM ${openRegistration} WHERE ${openRegistration.clientId} = ${clientId}
        AND ${openRegistration.until} IS NULL AND ${isSameRegistration})`,
  )}
  ON CONFLICT (${columnNames("registrationPeriod", "clientId", "since")})
  DO UPDATE SET (${columnNames("registrationPeriod", "until", ...registered)}) = (NULL, ${contentOf(excludedRegistration)})`,
  "access.recordRegistration",
);

const item = table("withheldItem", "v_item");
const openItem = table("withheldPeriod", "v_open");

const isSameItem = sql`${openItem.clientId} = ${item.clientId} AND ${openItem.schoolId} = ${item.schoolId}
  AND ${openItem.item} = ${item.item} AND ${openItem.reason} = ${item.reason}`;

/** Records what is withheld from now on; call it after each write of `withheld_item`. Null means all schools. */
export const recordWithheld = makeRun<{ clientId: ClientId; schoolId: SchoolId | null; at: Date }>(
  ({ clientId, schoolId, at }) => sql`
  WITH ended AS (
    ${update("withheldPeriod", "v_open", { until: sql`greatest(${openItem.since}, ${at})` })}
    WHERE ${openItem.clientId} = ${clientId} AND (${schoolId}::uuid IS NULL OR ${openItem.schoolId} = ${schoolId})
      AND ${openItem.until} IS NULL AND NOT EXISTS (SELECT FROM ${item} WHERE ${isSameItem}))
  ${insert(
    "withheldPeriod",
    { clientId: item.clientId, schoolId: item.schoolId, item: item.item, reason: item.reason, since: item.since },
    sql`FROM ${item}
    WHERE ${item.clientId} = ${clientId} AND (${schoolId}::uuid IS NULL OR ${item.schoolId} = ${schoolId})
      AND NOT EXISTS (SELECT FROM ${openItem} WHERE ${isSameItem} AND ${openItem.until} IS NULL)`,
  )}
  ON CONFLICT (${columnNames("withheldPeriod", "clientId", "schoolId", "item", "reason", "since")})
  DO UPDATE SET ${columnNames("withheldPeriod", "until")} = NULL`,
  "access.recordWithheld",
);

const gone = table("disclosurePeriod", "gone");
const old = table("disclosurePeriod", "old");
const known = table("app", "app");
const retired = table("retiredClientId", "retired");
const registration = table("registrationPeriod", "registration");
const ended = table("registrationPeriod", "ended");
const later = table("registrationPeriod", "later");

type Batch = { before: Date; batch: number };

// The periods of a deleted app ended with it, even if their rows have no end.
const removePeriods = makeRun<Batch>("access.sweepDisclosures")`
  DELETE FROM ${gone} WHERE gone.ctid = ANY (ARRAY(
    SELECT found.place FROM (
      SELECT ${known.clientId}, false AS is_gone FROM ${known}
      UNION ALL SELECT ${retired.clientId}, ${retired.retiredAt} < ${"before"}
        FROM ${retired}) AS each (client_id, is_gone)
    CROSS JOIN LATERAL (
      (SELECT old.ctid FROM ${old} WHERE ${old.clientId} = each.client_id AND ${old.until} < ${"before"}
       ORDER BY ${old.clientId}, ${old.until} LIMIT ${"batch"})
      UNION ALL
      (SELECT old.ctid FROM ${old} WHERE ${old.clientId} = each.client_id AND each.is_gone AND ${old.until} IS NULL
       ORDER BY ${old.clientId}, ${old.until} LIMIT ${"batch"})) AS found (place)
    LIMIT ${"batch"}))`;

// The last registration of a deleted app names it as long as it has periods.
const removeRegistrations = makeRun<Batch>("access.sweepRegistrations")`
  DELETE FROM ${registration} WHERE registration.ctid = ANY (ARRAY(
    SELECT ended.ctid FROM ${ended}
    WHERE ${ended.until} < ${"before"}
      AND (${exists(sql`${later} WHERE ${later.clientId} = ${ended.clientId} AND ${later.since} > ${ended.since}`)}
        OR (SELECT true FROM ${old} WHERE ${old.clientId} = ${ended.clientId}
          ORDER BY ${old.clientId}, ${old.until} LIMIT 1) IS NULL)
    ORDER BY ${ended.until} LIMIT ${"batch"}))`;

const held = table("withheldPeriod", "held");
const removeWithheld = makeRun<Batch>("access.sweepWithheldPeriods")`
  DELETE FROM ${table("withheldPeriod", "gone")} WHERE gone.ctid = ANY (ARRAY(
    SELECT held.ctid FROM ${held} WHERE ${held.until} < ${"before"} ORDER BY ${held.until} LIMIT ${"batch"}))`;

/** Removes what apps could read, a time after they no longer could. */
export const makeDisclosureSweep = ({ db, clock, recordDays }: { db: Db; clock: Clock; recordDays: number }) =>
  makeSweep(
    { name: "access.sweepDisclosures", clock },
    ...[removePeriods, removeRegistrations, removeWithheld].map(
      (remove) => (now: Date, batch: number) => remove(db.pool, { before: addDays(now, -recordDays), batch }),
    ),
  );
