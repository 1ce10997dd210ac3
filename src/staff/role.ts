import type { Prisma } from "../../generated/prisma/client.ts";
import { StaffRoleName } from "../../generated/prisma/enums.ts";
import type { ClientId } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { sql, type Sql, table, type Value } from "../platform/database/sql.ts";

export type StaffRoleId = string & { readonly __staffRoleId: true };

export type { StaffRoleName };

export const staffRoleNames: readonly StaffRoleName[] = Object.values(StaffRoleName);

export const targetOf = (role: StaffRoleName): "service" | "apps" | "schools" =>
  role === "OPERATOR" ? "service" : role === "PARTNER" ? "apps" : "schools";

export function adminScopesOf(roles: readonly StaffRoleName[]): ("admin:read" | "admin:write")[] {
  if (roles.length === 0) return [];
  return roles.every((role) => role === "SUPPORT") ? ["admin:read"] : ["admin:read", "admin:write"];
}

export type RoleHolder = { personId: PersonId } | { clientId: ClientId };

/** `schoolIds` is empty for operators and partners, `clientIds` for all but partners. */
export type StaffRole = {
  id: StaffRoleId;
  role: StaffRoleName;
  holder: RoleHolder;
  schoolIds: SchoolId[];
  clientIds: ClientId[];
  reason: string | null;
  endsAt: Date | null;
  givenAt: Date;
};

export const whole = {
  schools: { select: { schoolId: true }, orderBy: { schoolId: "asc" } },
  apps: { select: { clientId: true }, orderBy: { clientId: "asc" } },
} satisfies Prisma.StaffRoleInclude;

type WholeRole = Prisma.StaffRoleGetPayload<{ include: typeof whole }>;

export const atTime = (now: Date) =>
  ({ OR: [{ endsAt: null }, { endsAt: { gt: now } }] }) satisfies Prisma.StaffRoleWhereInput;

export function presentRole({ id, personId, clientId, schools, apps, ...rest }: WholeRole): StaffRole {
  return {
    ...rest,
    id: id as StaffRoleId,
    holder: personId === null ? { clientId: clientId as ClientId } : { personId: personId as PersonId },
    schoolIds: schools.map(({ schoolId }) => schoolId as SchoolId),
    clientIds: apps.map((app) => app.clientId as ClientId),
  };
}

/** The roles that the condition selects and that have not ended, by name. */
export async function listRolesHeld({ prisma }: RecordStore, where: Prisma.StaffRoleWhereInput, now: Date) {
  const orderBy: Prisma.StaffRoleOrderByWithRelationInput[] = [{ role: "asc" }, { id: "asc" }];
  return (await prisma.staffRole.findMany({ where: { ...where, ...atTime(now) }, include: whole, orderBy })).map(
    presentRole,
  );
}

const held = table("staffRole", "v_held");
const heldAt = table("staffRoleSchool", "v_held_at");

type Of = { readonly id: Sql; readonly homeSchoolId: Sql };

const holds = ({ id }: Of, now: Value, which: Sql): Sql => sql`EXISTS (SELECT FROM ${held}
  WHERE ${held.personId} = ${id} AND (${held.endsAt} IS NULL OR ${held.endsAt} > ${now}) AND ${which})`;

const reachesBeyond = ({ homeSchoolId }: Of): Sql => sql`(
  ${held.role} IN ('OPERATOR', 'DISTRICT', 'PARTNER', 'SUPPORT') OR EXISTS (SELECT FROM ${heldAt}
    WHERE ${heldAt.roleId} = ${held.id} AND ${heldAt.schoolId} IS DISTINCT FROM ${homeSchoolId}))`;

/** SQL condition: the person has a role beyond the home school, which the login of that school must not open. */
export const holdsRoleBeyondHome = (of: Of, now: Value): Sql => holds(of, now, reachesBeyond(of));

/** SQL condition: school admins, who repair the school's own login, and staff whom that login does not let in. */
export const mayAlwaysUsePassword = (of: Of, now: Value): Sql =>
  holds(of, now, sql`(${held.role} = 'SCHOOL_ADMIN' OR ${reachesBeyond(of)})`);

export const holdsAnyRole = (of: Of, now: Value): Sql => holds(of, now, sql`true`);
