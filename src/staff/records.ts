import type { Prisma } from "../../generated/prisma/client.ts";
import type { ClientId } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import type { StaffRole, StaffRoleId } from "./role.ts";

export const whole = {
  schools: { select: { schoolId: true }, orderBy: { schoolId: "asc" } },
  apps: { select: { clientId: true }, orderBy: { clientId: "asc" } },
} satisfies Prisma.StaffRoleInclude;

type WholeRole = Prisma.StaffRoleGetPayload<{ include: typeof whole }>;

/** A role that holds at a time: one that has ended counts no more. */
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
