import { columnNames, insert, sql, table, update, type Sql, type Value } from "../../platform/database/sql.ts";

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
  DO UPDATE SET ${columnNames("disclosurePeriod", "until")} = ${excluded.until},
    ${columnNames("disclosurePeriod", "isUser")} = ${excluded.isUser},
    ${columnNames("disclosurePeriod", "isPerson")} = ${excluded.isPerson},
    ${columnNames("disclosurePeriod", "seesSchool")} = ${excluded.seesSchool},
    ${columnNames("disclosurePeriod", "schoolIds")} = ${excluded.schoolIds}`;

const differs = sql`(b.is_user, b.is_synced, b.school_id IS NULL, b.school_ids)
  IS DISTINCT FROM (a.is_user, a.is_synced, a.school_id IS NULL, a.school_ids)`;

/**
 * Who writes: a change; the same change again, about people who signed in meanwhile; or a sign-in, which leaves alone
 * what a change has locked, because it must not wait and the change writes again.
 */
export type Writer = "change" | "change-again" | "sign-in";

/** CTEs that write the periods of a change from snapshots before and after it. */
export const recordDisclosures = (before: Sql, after: Sql, { now, by }: { now: Value; by: Writer }): Sql =>
  sql`
  seen_change AS MATERIALIZED (
    SELECT subject_id AS person_id, client_id,
      coalesce(a.is_user, false) AS is_user, coalesce(a.is_synced, false) AS is_person, a.school_ids,
      a.school_id IS NOT NULL AS sees_school, b.school_id IS NOT NULL AS saw_school,
      coalesce(b.is_user, false) AS was_user, coalesce(b.is_synced, false) AS was_person, b.school_ids AS were_school_ids
    FROM ${before} AS b FULL JOIN ${after} AS a USING (client_id, type, subject_id)
    WHERE type = 'person' ${by === "change-again" ? sql`` : sql`AND ${differs}`}
      AND EXISTS (SELECT FROM ${person} WHERE ${person.id} = subject_id)),
  ended_periods AS (${endOpen(now, by)}),
  begun_periods AS (${beginNew(now)})`;
