import type { Prisma } from "../../generated/prisma/client.ts";
import type { ClientId } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Reach } from "./reach.ts";
import { atTime, listRolesHeld, presentRole, whole } from "./role.ts";
import type { RoleHolder, StaffRole, StaffRoleId, StaffRoleName } from "./role.ts";

type RoleQuery = {
  reach: Reach;
  schoolId?: SchoolId | undefined;
  personId?: PersonId | undefined;
  clientId?: ClientId | undefined;
  role?: StaffRoleName | undefined;
  now: Date;
  withEnded: boolean;
  limit: number;
  after?: string | undefined;
};

export async function getRole({ prisma }: RecordStore, id: StaffRoleId): Promise<StaffRole> {
  const role = await prisma.staffRole.findUnique({ where: { id }, include: whole });
  if (role === null) throw new AppError("not_found", "staff_role_not_found", "There is no such staff role.");
  return presentRole(role);
}

/** Roles for at least one school or app in `reach`, latest first; operators' roles only if it is everything. */
export async function listRoles(
  { prisma }: RecordStore,
  { reach, schoolId, personId, clientId, role, now, withEnded, limit, after }: RoleQuery,
): Promise<(StaffRole & { holderName: string | null })[]> {
  const conditions: Prisma.StaffRoleWhereInput[] = [
    reachedBy(reach),
    schoolId === undefined ? {} : { schools: { some: { schoolId } } },
    personId === undefined ? {} : { personId },
    clientId === undefined ? {} : { OR: [{ clientId }, { apps: { some: { clientId } } }] },
    role === undefined ? {} : { role },
    withEnded ? {} : atTime(now),
  ];
  const roles = await prisma.staffRole.findMany({
    where: { AND: conditions },
    include: { ...whole, person: { select: { firstCall: true, last: true } }, app: { select: { name: true } } },
    orderBy: { id: "desc" },
    take: limit,
    ...(after !== undefined && { cursor: { id: after }, skip: 1 }),
  });
  return roles.map(({ person, app, ...role }) => ({
    ...presentRole(role),
    holderName: app === null ? nameOfPerson(person) : app.name,
  }));
}

function reachedBy({ all, schoolIds, clientIds }: Reach): Prisma.StaffRoleWhereInput {
  if (all) return {};
  const atSchools = { schools: { some: { schoolId: { in: [...schoolIds] } } } };
  return { OR: [atSchools, { apps: { some: { clientId: { in: [...clientIds] } } } }] };
}

const nameOfPerson = (person: { firstCall: string | null; last: string | null } | null): string | null =>
  person === null || person.last === null ? null : `${person.firstCall ?? ""} ${person.last}`.trim();

/** None for a person who is blocked or not active. Must not be cached. */
export function findRoles(db: RecordStore, holder: RoleHolder, now: Date): Promise<StaffRole[]> {
  const works = "personId" in holder ? { person: { status: "ACTIVE", blockedAt: null } as const } : {};
  return listRolesHeld(db, { ...holder, ...works }, now);
}

export async function listRolesOf(
  db: RecordStore,
  { personIds, now }: { personIds: readonly PersonId[]; now: Date },
): Promise<ReadonlyMap<PersonId, StaffRole[]>> {
  const roles = await listRolesHeld(db, { personId: { in: [...personIds] } }, now);
  return Map.groupBy(roles, ({ holder }) => (holder as { personId: PersonId }).personId);
}
