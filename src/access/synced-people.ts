import { lookUp, sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import { groupIsSynced, isSyncedAs, personIsSynced, shownSchools, visibleInRoster } from "./visibility.ts";

const synced = table("syncedGroup", "y");
const g = table("group", "g");
const m = table("membership", "m");
const a = table("affiliation", "a");
const p = table("person", "p");
const e = table("appEvent", "e");
const fewChanges = 2000;

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
 * `groupIsInRoster` does too.
 */
const selectEverybody = (client: Value, of: "people" | "members", when: Sql): Sql => {
  const [schoolId, personId, isMember] = [sql`at.school_id`, sql`at.person_id`, sql`at.is_member_anywhere`];
  const person = visibleInRoster("people:read", { client, personId }, isSyncedAs({ isMember, personId }, client));
  const from = sql`FROM (
    SELECT at.*, bool_or(at.is_member) OVER (PARTITION BY at.person_id) AS is_member_anywhere
    FROM (${everybodyAtSchools(client)}) AS at OFFSET 0) AS at`;
  if (of === "people") return sql`SELECT DISTINCT at.person_id ${from} WHERE ${when} AND ${person}`;
  return sql`SELECT at.person_id, in_group.id AS group_id ${from} CROSS JOIN LATERAL unnest(at.group_ids) AS in_group (id)
    WHERE ${when} AND ${visibleInRoster("groups:read", { client, schoolId }, person)}`;
};

/**
 * The same as `selectEverybody`. With `since`, a time, those may be missing of whose person and group the app was told
 * nothing since the minute before, and who are older: whom few changes concern is looked up one by one.
 */
export function everybodyInRoster(client: Value, of: "people" | "members", since?: Value): Sql {
  if (since === undefined) return selectEverybody(client, of, sql`true`);
  const areFew = sql`(SELECT count(*) <= ${fewChanges} FROM changed)`;
  const few = sql`(SELECT DISTINCT changed.id FROM changed WHERE ${areFew}) AS few`;
  const isPerson = visibleInRoster("people:read", { client, personId: p.id }, personIsSynced(client, p));
  const isGroup = visibleInRoster("groups:read", { client, schoolId: g.schoolId }, groupIsSynced(client, g.id));
  const changedRows = (id: Sql, from: Sql, at: Sql) => sql`(
    SELECT ${id} AS id FROM ${from} AND ${at} >= ${since}::text::timestamptz - interval '1 minute'
    ORDER BY ${at} LIMIT ${fewChanges + 1})`;
  const members = (id: Sql) => sql`SELECT m.* FROM ${few} ${lookUp("membership", "m", sql`${id} = few.id`)}`;
  const found =
    of === "people"
      ? sql`SELECT ${p.id} AS person_id FROM ${few} ${lookUp("person", "p", sql`${p.id} = few.id`)} WHERE ${isPerson}`
      : sql`SELECT m.person_id, m.group_id FROM (${members(m.personId)} UNION ${members(m.groupId)}) AS m
        ${lookUp("group", "g", sql`${g.id} = m.group_id`)} ${lookUp("person", "p", sql`${p.id} = m.person_id`)}
        WHERE ${isGroup} AND ${isPerson}`;
  return sql`WITH changed AS MATERIALIZED (
      ${changedRows(e.subjectId, sql`${e} WHERE ${e.clientId} = ${client}`, e.at)}
      UNION ALL ${changedRows(p.id, sql`${p} WHERE true`, p.createdAt)}
      UNION ALL ${changedRows(g.id, sql`${g} WHERE true`, g.createdAt)})
    ${found} UNION ALL ${selectEverybody(client, of, sql`NOT ${areFew}`)}`;
}
