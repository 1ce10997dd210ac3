import type { Prisma } from "../../generated/prisma/client.ts";
import type { PersonId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { listRolesHeld, type RoleHolder, type StaffRole, type StaffRoleName } from "./role.ts";

const ranks: Partial<Record<StaffRoleName, number>> = { DISTRICT: 1, SCHOOL_ADMIN: 2, SECRETARY: 3, CLASS_TEACHER: 4 };
const rankOfSupport = 2;

export type Covered = Pick<StaffRole, "role" | "schoolIds" | "clientIds">;

export function cover(mine: readonly Covered[], { role, schoolIds, clientIds }: Covered): boolean {
  if (mine.some((held) => held.role === "OPERATOR")) return true;
  if (role === "OPERATOR") return false;
  const partners = mine.filter((held) => held.role === "PARTNER");
  if (role === "PARTNER") return clientIds.every((id) => partners.some((held) => held.clientIds.includes(id)));
  const rank = ranks[role] ?? rankOfSupport;
  const atLeast = mine.filter((held) => (ranks[held.role] ?? Infinity) <= rank);
  return schoolIds.every((id) => atLeast.some((held) => held.schoolIds.includes(id)));
}

type Caller = { mine: readonly Covered[]; now: Date };

/**
 * Refuses changes that would give the caller another holder's roles, by a person's password, an app's secret or its
 * redirect URIs. Roles of blocked and soft-deleted people count, and an app with admin scopes and a redirect URI counts
 * as an operator, because it acts for all who sign in.
 *
 * Errors: forbidden role_forbids.
 */
export async function refuseHigherHolder(db: RecordStore, { holder, mine, now }: Caller & { holder: RoleHolder }) {
  const higher = await listHigherRoles(db, holder, { mine, now });
  if (higher.length === 0 && !(await worksForAnybody(db, holder, mine))) return;
  const message =
    "personId" in holder
      ? "The person holds a staff role that goes beyond yours."
      : "The app may do more as staff than you. An operator changes it.";
  throw new AppError("forbidden", "role_forbids", message);
}

const listHigherRoles = async (db: RecordStore, ofHolders: Prisma.StaffRoleWhereInput, { mine, now }: Caller) =>
  (await listRolesHeld(db, ofHolders, now)).filter((role) => !cover(mine, role));

async function worksForAnybody({ prisma }: RecordStore, holder: RoleHolder, mine: readonly Covered[]) {
  if ("personId" in holder || mine.some(({ role }) => role === "OPERATOR")) return false;
  const withSignOn = { scopes: { hasSome: ["admin:read", "admin:write"] }, redirectUris: { isEmpty: false } };
  return (await prisma.app.count({ where: { ...holder, ...withSignOn } })) > 0;
}

export async function listHigherHolders(
  db: RecordStore,
  { personIds, ...caller }: Caller & { personIds: readonly PersonId[] },
): Promise<ReadonlySet<PersonId>> {
  const higher = await listHigherRoles(db, { personId: { in: [...personIds] } }, caller);
  return new Set(higher.map(({ holder }) => (holder as { personId: PersonId }).personId));
}
