import { gradeOfNames, type PersonRole } from "../directory/index.ts";
import { fields, type Sql, sql, table } from "../platform/database/sql.ts";
import { classNamesOf, isFromGrade } from "./grades.ts";

/** How long a person's schools let them stay signed in; of several schools the strictest counts. */
export type SessionRule = {
  /** Null if no school says it; `isOfAll`: each of them does. */
  hours: number | null;
  isOfAll: boolean;
  /** On a device of their own; 0 if they may not. */
  days: number;
  fromGrade: number | null;
  role: PersonRole;
  /** At the home school, where the grade decides. */
  classes: string[] | null;
};

const person = table("person", "v_session_person");
const affiliation = table("affiliation", "v_session_at");
const settings = table("schoolSignIn", "v_session");

const isPupil = sql`${person.role} = 'STUDENT'`;
const hours = sql`CASE WHEN ${isPupil} THEN ${settings.pupilSessionHours} ELSE ${settings.staffSessionHours} END`;
const isForStaffOnly = sql`${isPupil} AND ${settings.staySignedInFromGrade} IS NULL`;

/** SQL of a scalar subquery with a `SessionRule` as JSON; null for nobody, and for staff who are at no school. */
export const sessionRuleOf = (personId: Sql): Sql => sql`(SELECT to_json(rule) FROM (SELECT ${fields<SessionRule>({
  hours: sql`min(${hours})`,
  isOfAll: sql`bool_and((${hours}) IS NOT NULL)`,
  days: sql`min(CASE WHEN ${isForStaffOnly} THEN 0 ELSE coalesce(${settings.staySignedInDays}, 0) END)`,
  fromGrade: sql`max(${settings.staySignedInFromGrade})`,
  role: person.role,
  classes: sql`CASE WHEN ${isPupil} AND max(${settings.staySignedInFromGrade}) IS NOT NULL
    THEN ${classNamesOf({ personId: person.id, schoolId: person.homeSchoolId })} END`,
})} FROM ${person} JOIN ${affiliation} ON ${affiliation.personId} = ${person.id}
    LEFT JOIN ${settings} ON ${settings.schoolId} = ${affiliation.schoolId}
  WHERE ${person.id} = ${personId} GROUP BY ${person.id}) AS rule)`;

/** Whether the person may stay signed in for days on a device of their own. */
export const mayStay = (rule: SessionRule | null): boolean =>
  rule !== null && rule.days > 0 && isFromGrade(rule.role, rule.fromGrade, gradeOfNames(rule.classes ?? []));
