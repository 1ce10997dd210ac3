import type { Prisma } from "../../generated/prisma/client.ts";
import type { ClientId } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { nameOfHolder } from "./holder-name.ts";
import type { Reach } from "./reach.ts";
import { atTime, presentRole, whole } from "./records.ts";
import type { StaffRole, StaffRoleId, StaffRoleName } from "./role.ts";

export type ListedRole = StaffRole & { holderName: string | null };

/** Which roles: all that is given must hold. Shape: `clientId` is an app that holds the role, or that it is for. */
export type RoleFilter = {
  schoolId?: SchoolId | undefined;
  personId?: PersonId | undefined;
  clientId?: ClientId | undefined;
  role?: StaffRoleName | undefined;
};

type Asked = RoleFilter & {
  reach: Reach;
  now: Date;
  withEnded: boolean;
  limit: number;
  after?: string | undefined;
};

/** Errors: not_found staff_role_not_found. */
export async function getRole({ prisma }: RecordStore, id: StaffRoleId): Promise<StaffRole> {
  const found = await prisma.staffRole.findUnique({ where: { id }, include: whole });
  if (found === null) throw new AppError("not_found", "staff_role_not_found", "There is no such staff role.");
  return presentRole(found);
}

/**
 * The roles that touch a reach, the latest given first; those that have ended too if `withEnded`.
 *
 * Shape: a role for schools is listed where one of them is reached, a partner's where one of its apps is; an operator's
 *        only for a reach of everything.
 */
export async function listRoles(
  { prisma }: RecordStore,
  { reach, now, withEnded, limit, after, ...filter }: Asked,
): Promise<ListedRole[]> {
  const found = await prisma.staffRole.findMany({
    where: { AND: [...reachedBy(reach), ...chosenBy(filter), withEnded ? {} : atTime(now)] },
    include: { ...whole, person: { select: { firstCall: true, last: true } }, app: { select: { name: true } } },
    // Ids are made in the order of time.
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
