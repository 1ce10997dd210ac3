import { lookUp, sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import { isSyncedAs, shownSchools, visibleInRoster } from "./visibility.ts";

const synced = table("syncedGroup", "y");
const g = table("group", "g");
const m = table("membership", "m");
const a = table("affiliation", "a");

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
export function everybodyInRoster(client: Value, of: "people" | "members"): Sql {
  const [schoolId, personId, isMember] = [sql`at.school_id`, sql`at.person_id`, sql`at.is_member_anywhere`];
  const person = visibleInRoster("people:read", { client, personId }, isSyncedAs({ isMember, personId }, client));
  const from = sql`FROM (
    SELECT at.*, bool_or(at.is_member) OVER (PARTITION BY at.person_id) AS is_member_anywhere
    FROM (${everybodyAtSchools(client)}) AS at OFFSET 0) AS at`;
  if (of === "people") return sql`SELECT DISTINCT at.person_id ${from} WHERE ${person}`;
  return sql`SELECT at.person_id, in_group.id AS group_id ${from} CROSS JOIN LATERAL unnest(at.group_ids) AS in_group (id)
    WHERE ${visibleInRoster("groups:read", { client, schoolId }, person)}`;
}
