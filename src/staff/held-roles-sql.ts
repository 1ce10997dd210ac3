import { sql, table, type Sql, type Value } from "../platform/database/sql.ts";

const held = table("staffRole", "v_held");
const heldAt = table("staffRoleSchool", "v_held_at");

type Of = { readonly id: Sql; readonly homeSchoolId: Sql };

const holds = ({ id }: Of, now: Value, which: Sql): Sql => sql`EXISTS (SELECT FROM ${held}
  WHERE ${held.personId} = ${id} AND (${held.endsAt} IS NULL OR ${held.endsAt} > ${now}) AND ${which})`;

const reachesBeyond = ({ homeSchoolId }: Of): Sql => sql`(
  ${held.role} IN ('OPERATOR', 'DISTRICT', 'PARTNER', 'SUPPORT') OR EXISTS (SELECT FROM ${heldAt}
    WHERE ${heldAt.roleId} = ${held.id} AND ${heldAt.schoolId} IS DISTINCT FROM ${homeSchoolId}))`;

/**
 * SQL condition: a role that reaches beyond the home school, so that no login of that school opens it: its admins
 * choose the provider, and would come into other schools as a colleague.
 */
export const holdsRoleBeyondHome = (of: Of, now: Value): Sql => holds(of, now, reachesBeyond(of));

/** SQL condition: school admins, who repair the school's own login, and staff whom that login does not let in. */
export const mayAlwaysUsePassword = (of: Of, now: Value): Sql =>
  holds(of, now, sql`(${held.role} = 'SCHOOL_ADMIN' OR ${reachesBeyond(of)})`);

/** SQL condition: any role of staff. */
export const holdsAnyRole = (of: Of, now: Value): Sql => holds(of, now, sql`true`);
