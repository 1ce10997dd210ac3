import { gradeOfNames, type PersonRole } from "../directory/index.ts";
import { fields, type Sql, sql, table } from "../platform/database/sql.ts";
import { classNamesOf, isFromGrade } from "./grades.ts";

/** What the home school of a person says about passkeys. `classes` is filled only if the grade decides. */
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

export type PasskeyState = "USABLE" | "DISABLED" | "GRADE";

/** Whether a passkey signs the person in without their password, and if not, why. */
export function passkeyStateOf({ passkeys, fromGrade, role, classes }: PasskeyRule): PasskeyState {
  if (!passkeys) return "DISABLED";
  return isFromGrade(role, fromGrade, gradeOfNames(classes ?? [])) ? "USABLE" : "GRADE";
}

export const mayUsePasskey = (rule: PasskeyRule): boolean => passkeyStateOf(rule) === "USABLE";

const factor = table("secondFactor", "own_passkey");
const owner = table("person", "passkey_owner");

/** SQL of the rule for a person with a passkey; null without one. */
export const passkeyRuleOfOwner = (personId: Sql): Sql => sql`(
  SELECT ${passkeyRuleOf(owner)} FROM ${owner} WHERE ${owner.id} = ${personId}
    AND EXISTS (SELECT FROM ${factor} WHERE ${factor.personId} = ${owner.id} AND ${factor.kind} = 'PASSKEY'))`;
