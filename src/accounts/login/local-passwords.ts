import { sql, table, type Sql, type Value } from "../../platform/database/sql.ts";
import { holdsSchoolAdminRole } from "../../staff/index.ts";

const v_way = table("schoolWayIn", "v_way");

/**
 * SQL condition, the rule of who may sign in with a password: not those at home in a school that has switched passwords
 * off in favour of its own login, except in an emergency. Its admins always may, because they repair that login; so may
 * people at no school. Where it is false, a right password is answered as a wrong one, so that nobody can try out
 * passwords that people use elsewhere.
 */
export const mayUsePassword = (of: { readonly id: Sql; readonly homeSchoolId: Sql }, now: Value): Sql =>
  sql`(NOT EXISTS (SELECT FROM ${v_way} WHERE ${v_way.schoolId} = ${of.homeSchoolId} AND NOT ${v_way.localPasswords}
      AND (${v_way.emergencyUntil} IS NULL OR ${v_way.emergencyUntil} <= ${now}))
    OR ${holdsSchoolAdminRole(of.id, now)})`;
