import { join, literal, sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import type { StaffRoleName } from "./role.ts";

const held = table("staffRole", "v_held");

const holdsOneOf =
  (...roles: readonly StaffRoleName[]) =>
  (personId: Sql, now: Value): Sql => sql`EXISTS (SELECT FROM ${held}
    WHERE ${held.personId} = ${personId} AND (${held.endsAt} IS NULL OR ${held.endsAt} > ${now})
      AND ${held.role} IN (${join(roles.map(literal), ", ")}))`;

/** SQL condition: a role that is nobody's at a school, so that no school's own login opens it. */
export const holdsServiceWideRole = holdsOneOf("OPERATOR", "DISTRICT", "PARTNER", "SUPPORT");

/** SQL condition: those who repair the sign-in of a school, and those whom no school's own login lets in. */
export const holdsAdminRole = holdsOneOf("SCHOOL_ADMIN", "OPERATOR", "DISTRICT", "PARTNER", "SUPPORT");
