import type { PersonRole } from "../directory/index.ts";
import { type Sql, sql, table } from "../platform/database/sql.ts";

const membership = table("membership");
const group = table("group", "class");

/** SQL of a JSON array: the names of a person's classes at a school, from which `gradeOfNames` reads the grade. */
export const classNamesOf = (of: { personId: Sql; schoolId: Sql }): Sql => sql`(
  SELECT coalesce(json_agg(${group.name}), '[]') FROM ${membership} JOIN ${group} ON ${group.id} = ${membership.groupId}
  WHERE ${membership.personId} = ${of.personId} AND ${membership.schoolId} = ${of.schoolId}
    AND ${group.type} = 'KLASSE' AND ${group.status} = 'ACTIVE')`;

/** Whether a setting for pupils from a grade, null for none, is for the person; staff are always meant. */
export const isFromGrade = (role: PersonRole, from: number | null, grade: number | null): boolean =>
  role !== "STUDENT" || (from !== null && grade !== null && grade >= from);
