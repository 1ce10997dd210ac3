import type { Prisma } from "../../generated/prisma/client.ts";
import type { ClientId } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Reach } from "./reach.ts";
import {
  atTime,
  presentRole,
  whole,
  type RoleHolder,
  type StaffRole,
  type StaffRoleId,
  type StaffRoleName,
} from "./role.ts";

export type ListedRole = StaffRole & { holderName: string | null };

type RoleFilter = {
  schoolId?: SchoolId | undefined;
  personId?: PersonId | undefined;
  clientId?: ClientId | undefined;
  role?: StaffRoleName | undefined;
};

type RoleQuery = RoleFilter & {
  reach: Reach;
  now: Date;
  withEnded: boolean;
  limit: number;
  after?: string | undefined;
};

export async function getRole({ prisma }: RecordStore, id: StaffRoleId): Promise<StaffRole> {
  const found = await prisma.staffRole.findUnique({ where: { id }, include: whole });
  if (found === null) throw new AppError("not_found", "staff_role_not_found", "There is no such staff role.");
  return presentRole(found);
}

/** Roles for at least one school or app in `reach`, latest first; operators' roles only if it is everything. */
export async function listRoles(
  { prisma }: RecordStore,
  { reach, now, withEnded, limit, after, ...filter }: RoleQuery,
): Promise<ListedRole[]> {
  const found = await prisma.staffRole.findMany({
    where: { AND: [...reachedBy(reach), ...chosenBy(filter), withEnded ? {} : atTime(now)] },
    include: { ...whole, person: { select: { firstCall: true, last: true } }, app: { select: { name: true } } },
    orderBy: { id: "desc" },
    take: limit,
    ...(after !== undefined && { cursor: { id: after }, skip: 1 }),
  });
  return found.map(({ person, app, ...role }) => ({
    ...presentRole(role),
    holderName: nameOfHolder({ person, app }),
  }));
}

const reachedBy = ({ all, schoolIds, clientIds }: Reach): Prisma.StaffRoleWhereInput[] =>
  all
    ? []
    : [
        {
          OR: [
            { schools: { some: { schoolId: { in: [...schoolIds] } } } },
            { apps: { some: { clientId: { in: [...clientIds] } } } },
          ],
        },
      ];

const chosenBy = ({ schoolId, personId, clientId, role }: RoleFilter): Prisma.StaffRoleWhereInput[] => [
  schoolId === undefined ? {} : { schools: { some: { schoolId } } },
  personId === undefined ? {} : { personId },
  clientId === undefined ? {} : { OR: [{ clientId }, { apps: { some: { clientId } } }] },
  role === undefined ? {} : { role },
];

/** None for a person who is blocked or not active. Must not be cached. */
export async function findRoles({ prisma }: RecordStore, holder: RoleHolder, now: Date): Promise<StaffRole[]> {
  const found = await prisma.staffRole.findMany({
    where: {
      ...holder,
      ...atTime(now),
      ...("personId" in holder && { person: { status: "ACTIVE", blockedAt: null } }),
    },
    include: whole,
    orderBy: [{ role: "asc" }, { id: "asc" }],
  });
  return found.map(presentRole);
}

export async function listRolesOf(
  { prisma }: RecordStore,
  { personIds, now }: { personIds: readonly PersonId[]; now: Date },
): Promise<ReadonlyMap<PersonId, StaffRole[]>> {
  const found = await prisma.staffRole.findMany({
    where: { personId: { in: [...personIds] }, ...atTime(now) },
    include: whole,
    orderBy: [{ role: "asc" }, { id: "asc" }],
  });
  return Map.groupBy(found.map(presentRole), ({ holder }) => (holder as { personId: PersonId }).personId);
}

type Named = { person: { firstCall: string | null; last: string | null } | null; app: { name: string } | null };

function nameOfHolder({ person, app }: Named): string | null {
  if (app !== null) return app.name;
  return person === null || person.last === null ? null : `${person.firstCall ?? ""} ${person.last}`.trim();
}
