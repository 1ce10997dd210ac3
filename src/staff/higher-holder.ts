import type { PersonId } from "../directory/index.ts";
import type { RecordStore } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { atTime, presentRole, whole } from "./records.ts";
import type { StaffRole, StaffRoleName } from "./role.ts";

const ranks: Partial<Record<StaffRoleName, number>> = { DISTRICT: 1, SCHOOL_ADMIN: 2, SECRETARY: 3, CLASS_TEACHER: 4 };
const rankOfSupport = 2;

/** Whether some roles allow all that another one does, for all that it is for. */
function cover(mine: readonly StaffRole[], { role, schoolIds, clientIds }: StaffRole): boolean {
  if (mine.some((held) => held.role === "OPERATOR")) return true;
  if (role === "OPERATOR") return false;
  const partners = mine.filter((held) => held.role === "PARTNER");
  if (role === "PARTNER") return clientIds.every((id) => partners.some((held) => held.clientIds.includes(id)));
  const rank = ranks[role] ?? rankOfSupport;
  const atLeast = mine.filter((held) => (ranks[held.role] ?? Infinity) <= rank);
  return schoolIds.every((id) => atLeast.some((held) => held.schoolIds.includes(id)));
}

/**
 * Refuses what would give somebody the roles of another: a new password of a person opens all that the person may do.
 *
 * Shape:  roles count of people who are blocked or soft-deleted too, as they come back with them.
 * Errors: forbidden role_forbids where the person holds a role that goes beyond `mine`.
 */
export async function refuseHigherHolder(
  { prisma }: Pick<RecordStore, "prisma">,
  { personId, mine, now }: { personId: PersonId; mine: readonly StaffRole[]; now: Date },
): Promise<void> {
  const higher = await listHigherHolders({ prisma }, { personIds: [personId], mine, now });
  if (higher.size === 0) return;
  throw new AppError("forbidden", "role_forbids", "The person holds a staff role that goes beyond yours.");
}

/** Which of these people hold a role that goes beyond `mine`. Shape: as in refuseHigherHolder. */
export async function listHigherHolders(
  { prisma }: Pick<RecordStore, "prisma">,
  { personIds, mine, now }: { personIds: readonly PersonId[]; mine: readonly StaffRole[]; now: Date },
): Promise<ReadonlySet<PersonId>> {
  const where = { personId: { in: [...personIds] }, ...atTime(now) };
  const found = await prisma.staffRole.findMany({ where, include: whole });
  const higher = found.filter((role) => !cover(mine, presentRole(role)));
  return new Set(higher.map(({ personId }) => personId as PersonId));
}
