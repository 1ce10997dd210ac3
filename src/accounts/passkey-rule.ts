import { gradeOfNames, type PersonRole } from "../directory/index.ts";
import { fields, type Sql, sql, table } from "../platform/database/sql.ts";
import { classNamesOf, isFromGrade } from "./grades.ts";

/** Of a person: what their home school says about passkeys. `classes` only where the grade decides. */
export type PasskeyRule = {
  passkeys: boolean;
  fromGrade: number | null;
  role: PersonRole;
  classes: string[] | null;
};

const settings = table("schoolSignIn", "v_sign_in");

/** SQL of a scalar subquery with a `PasskeyRule` as JSON. */
export const passkeyRuleOf = (person: { readonly [Name in "id" | "homeSchoolId" | "role"]: Sql }): Sql => {
  const classes = classNamesOf({ personId: person.id, schoolId: person.homeSchoolId });
  return sql`(SELECT to_json(rule) FROM (SELECT ${fields<PasskeyRule>({
    passkeys: sql`coalesce(${settings.passkeys}, true)`,
    fromGrade: settings.passkeysFromGrade,
    role: person.role,
    classes: sql`CASE WHEN ${person.role} = 'STUDENT' AND ${settings.passkeysFromGrade} IS NOT NULL THEN ${classes} END`,
  })} FROM (SELECT) AS one LEFT JOIN ${settings} ON ${settings.schoolId} = ${person.homeSchoolId}) AS rule)`;
};

/** Whether a passkey signs the person in without their password. */
export const mayUsePasskey = ({ passkeys, fromGrade, role, classes }: PasskeyRule): boolean =>
  passkeys && isFromGrade(role, fromGrade, gradeOfNames(classes ?? []));
