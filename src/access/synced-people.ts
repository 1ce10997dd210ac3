import { lookUp, sql, table, type Columns, type Sql, type Value } from "../platform/database/sql.ts";
import { groupIsSynced, isSyncedAs, personIsSynced, shownSchools, visibleInRoster } from "./visibility.ts";

const synced = table("syncedGroup", "y");
const g = table("group", "g");
const m = table("membership", "m");
const a = table("affiliation", "a");
const p = table("person", "p");
const e = table("appEvent", "e");

/** Looking up so many people takes as long as reading 100,000 at once. */
const fewChanges = 10_000;

// A rule that is checked person by person looks up their groups one by one. These read what a school syncs once.

/**
 * SELECT of school_id, person_id, is_member and group_ids: everybody at the schools that sync to the app, with their
 * synced groups there; `is_member` of an active one.
 */
export const everybodyAtSchools = (client: Value): Sql => sql`
  SELECT shown.school_id, at.* FROM (${shownSchools(client)}) AS shown CROSS JOIN LATERAL (
    SELECT of_school.person_id, bool_or(of_school.is_active) AS is_member,
      array_agg(of_school.group_id) FILTER (WHERE of_school.group_id IS NOT NULL) AS group_ids
    FROM (
      SELECT m.person_id, m.group_id, ${g.status} = 'ACTIVE' AS is_active
      FROM (
        SELECT ${synced.groupId} FROM ${synced}
        WHERE ${synced.clientId} = ${client} AND ${synced.schoolId} = shown.school_id OFFSET 0) AS y
      ${lookUp("group", "g", sql`${g.id} = y.group_id`)} ${lookUp("membership", "m", sql`${m.groupId} = y.group_id`)}
      UNION ALL
      SELECT ${a.personId}, NULL, false FROM ${a} WHERE ${a.schoolId} = shown.school_id) AS of_school
    GROUP BY 1 OFFSET 0) AS at`;

/**
 * SELECT of person_id whom `personIsInRoster` lets the app see, or of person_id and group_id whose group
 * `groupIsInRoster` does too. With `isChanged`, only those that are in `changed`, with the time.
 */
const selectEverybody = (client: Value, of: "people" | "members", isChanged?: Sql): Sql => {
  const [schoolId, personId, isMember] = [sql`at.school_id`, sql`at.person_id`, sql`at.is_member_anywhere`];
  const person = visibleInRoster("people:read", { client, personId }, isSyncedAs({ isMember, personId }, client));
  const group = visibleInRoster("groups:read", { client, schoolId }, person);
  const everybody = everybodyAtSchools(client);
  const from = (rows: Sql, changedAt: Sql) => sql`FROM (
    SELECT at.*, bool_or(at.is_member) OVER person AS is_member_anywhere${changedAt}
    FROM (${rows}) AS at WINDOW person AS (PARTITION BY at.person_id) OFFSET 0) AS at`;
  const groups = sql`CROSS JOIN LATERAL unnest(at.group_ids) AS in_group (id)`;
  if (isChanged === undefined) {
    const unchanged = from(everybody, sql``);
    if (of === "people") return sql`SELECT DISTINCT at.person_id ${unchanged} WHERE ${person}`;
    return sql`SELECT at.person_id, in_group.id AS group_id ${unchanged} ${groups} WHERE ${group}`;
  }
  // Changes are sorted in among the rows: a join would look through all of them for each row.
  const changed = from(
    sql`SELECT one.*, NULL::timestamptz AS told_at FROM (${everybody}) AS one
      UNION ALL SELECT NULL, changed.id, NULL, NULL, changed.at FROM changed`,
    sql`, max(at.told_at) OVER person AS changed_at`,
  );
  const isPerson = sql`WHERE ${isChanged} AND at.school_id IS NOT NULL`;
  if (of === "people")
    return sql`SELECT DISTINCT at.person_id, at.changed_at ${changed} ${isPerson} AND at.changed_at IS NOT NULL AND ${person}`;
  return sql`SELECT * FROM (
    SELECT m.person_id, m.group_id, greatest(m.changed_at, max(m.told_at) OVER (PARTITION BY m.group_id)) AS changed_at
    FROM (
      SELECT at.person_id, in_group.id AS group_id, at.changed_at, NULL::timestamptz AS told_at
      ${changed} ${groups} ${isPerson} AND ${group}
      UNION ALL SELECT NULL, changed.id, NULL, changed.at FROM changed WHERE ${isChanged}) AS m) AS m
    WHERE m.person_id IS NOT NULL AND m.changed_at IS NOT NULL`;
};

/** SQL value: when the app was last told of a change of the record; when it was made if that event was swept. */
export const lastChange = (client: Value, { id, createdAt }: Columns<"id" | "createdAt">): Sql => sql`coalesce((
  SELECT max(told.at) FROM (SELECT ${e.clientId}, ${e.at} FROM ${e} WHERE ${e.subjectId} = ${id} OFFSET 0) AS told
  WHERE told.client_id = ${client}), ${createdAt})`;

/**
 * The same as `selectEverybody`. With `since`, a time, only those whose person or group changed for the app since the
 * minute before, or is new, with the time as `changed_at`. People of a few changes are looked up one by one.
 */
export function everybodyInRoster(client: Value, of: "people" | "members", since?: Value): Sql {
  if (since === undefined) return selectEverybody(client, of);
  const isPerson = visibleInRoster("people:read", { client, personId: p.id }, personIsSynced(client, p));
  const isGroup = visibleInRoster("groups:read", { client, schoolId: g.schoolId }, groupIsSynced(client, g.id));
  const from = sql`${since}::text::timestamptz - interval '1 minute'`;
  const made = (record: typeof p | typeof g) =>
    sql`SELECT ${record.id}, ${lastChange(client, record)} FROM ${record} WHERE ${record.createdAt} >= ${from}`;
  const changed = sql`changed AS MATERIALIZED (
    SELECT one.id, max(one.at) AS at FROM (
      SELECT ${e.subjectId}, ${e.at} FROM ${e} WHERE ${e.clientId} = ${client} AND ${e.at} >= ${from}
      UNION ALL ${made(p)} UNION ALL ${made(g)}) AS one (id, at)
    GROUP BY 1)`;
  const areFew = sql`(SELECT count(*) <= ${fewChanges} FROM changed)`;
  const all = selectEverybody(client, of, sql`NOT ${areFew}`);
  if (of === "people")
    return sql`WITH ${changed} SELECT ${p.id} AS person_id, changed.at AS changed_at
      FROM changed ${lookUp("person", "p", sql`${p.id} = changed.id`)} WHERE ${areFew} AND ${isPerson} UNION ALL ${all}`;
  const members = (id: Sql) => sql`
    SELECT m.person_id, m.group_id, changed.at FROM changed ${lookUp("membership", "m", sql`${id} = changed.id`)} WHERE ${areFew}`;
  return sql`WITH ${changed} SELECT seen.id AS person_id, in_group.id AS group_id, in_group.at AS changed_at
    FROM (
      SELECT ${p.id}, at.groups, at.times FROM (
        SELECT one.person_id, array_agg(one.group_id) AS groups, array_agg(one.at) AS times
        FROM (${members(m.personId)} UNION ALL ${members(m.groupId)}) AS one GROUP BY 1) AS at
      ${lookUp("person", "p", sql`${p.id} = at.person_id`)} WHERE ${isPerson} OFFSET 0) AS seen
    CROSS JOIN LATERAL (
      SELECT one.id, max(one.at) AS at FROM unnest(seen.groups, seen.times) AS one (id, at) GROUP BY 1) AS in_group
    ${lookUp("group", "g", sql`${g.id} = in_group.id`)} WHERE ${isGroup} UNION ALL ${all}`;
}
