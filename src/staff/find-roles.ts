import type { PersonId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { atTime, presentRole, whole } from "./records.ts";
import type { RoleHolder, StaffRole } from "./role.ts";

/** Who calls: an app itself, or a person signed in through one. */
export type Holder = RoleHolder;

/**
 * The roles that somebody holds now, read at every call: a role that was taken away a second ago is gone.
 *
 * Shape: none for a person who is blocked or not active.
 */
export async function findRoles({ prisma }: RecordStore, holder: Holder, now: Date): Promise<StaffRole[]> {
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

/** The roles that each of these people holds; none for those who hold none. */
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

/** Which of these people hold a role. */
export async function listRoleHolders(
  { prisma }: RecordStore,
  { personIds, now }: { personIds: readonly PersonId[]; now: Date },
): Promise<ReadonlySet<PersonId>> {
  const where = { personId: { in: [...personIds] }, ...atTime(now) };
  const found = await prisma.staffRole.findMany({ where, select: { personId: true } });
  return new Set(found.map(({ personId }) => personId as PersonId));
}
