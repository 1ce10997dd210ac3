import type { Prisma } from "../../generated/prisma/client.ts";
import type { ClientId } from "../access/index.ts";
import { checkText, type PersonId, type SchoolId } from "../directory/index.ts";
import { recordAudit, type AuditAction, type Origin } from "../events/index.ts";
import { addDays } from "../platform/clock.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { lockName } from "../platform/database/sql.ts";
import { findRoles, getRole } from "./find-roles.ts";
import { cover } from "./higher-holder.ts";
import { isReached, joinReach } from "./reach.ts";
import { listRolesHeld, presentRole, targetOf, whole } from "./role.ts";
import type { RoleHolder, StaffRole, StaffRoleId, StaffRoleName } from "./role.ts";

export type NewRole = {
  role: StaffRoleName;
  holder: RoleHolder;
  schoolIds?: readonly SchoolId[];
  clientIds?: readonly ClientId[];
  reason?: string | null;
  endsAt?: Date | null;
  /** The giver knows that partners who manage the app get this role's power. */
  confirmPartners?: boolean | undefined;
};

/** The giver's roles; null for the command line, which may give any role. */
export type Giver = readonly StaffRole[] | null;

/** The roles that admins of a school may give there. Only an operator gives the others. */
export const rolesGivenBySchools: readonly StaffRoleName[] = ["SCHOOL_ADMIN", "SECRETARY", "CLASS_TEACHER"];
/** The roles that only an operator gives, and that admins of a school may end there. */
export const rolesEndedBySchools: readonly StaffRoleName[] = ["SUPPORT"];
const givingForSchools: ReadonlySet<StaffRoleName> = new Set(["DISTRICT", "SCHOOL_ADMIN"]);
const longestReason = 200;
const usualSupportDays = 14;

const isOperator = (giver: Giver): boolean => giver === null || giver.some(({ role }) => role === "OPERATOR");

const reachOf = (giver: Giver) => joinReach((giver ?? []).filter((held) => givingForSchools.has(held.role)));

function refuseGiver(giver: Giver, role: StaffRoleName, schoolIds: readonly SchoolId[]): void {
  if (isOperator(giver)) return;
  if (rolesGivenBySchools.includes(role) && isReached(reachOf(giver), { everySchool: schoolIds })) return;
  const message = "A role can be given by an operator, and for a school by its district and its admins.";
  throw new AppError("forbidden", "role_beyond_own", message);
}

const invalid = (code: string, message: string) => new AppError("invalid", code, message);

function checkRole(newRole: NewRole, now: Date, supportRoleDays: number): void {
  const { role, schoolIds = [], clientIds = [], reason = null, endsAt = null } = newRole;
  const target = targetOf(role);
  checkScope(role, "school", { isNeeded: target === "schools", isGiven: schoolIds.length > 0 });
  checkScope(role, "app", { isNeeded: target === "apps", isGiven: clientIds.length > 0 });
  if (role === "SUPPORT" && endsAt === null)
    throw invalid("role_end_required", "SUPPORT needs a time at which it ends.");
  if (role === "SUPPORT" && reason === null)
    throw invalid("role_reason_required", "SUPPORT needs a reason, which the school sees.");
  if (endsAt !== null && endsAt <= now) throw invalid("role_end_past", "The end of a role lies in the future.");
  if (role === "SUPPORT" && endsAt !== null && endsAt > addDays(now, supportRoleDays)) {
    const message = `SUPPORT is given for ${supportRoleDays} days at most. Give it again when it has ended.`;
    throw invalid("role_too_long", message);
  }
}

type ScopeCheck = { isNeeded: boolean; isGiven: boolean };

function checkScope(role: StaffRoleName, kind: "school" | "app", { isNeeded, isGiven }: ScopeCheck): void {
  if (isNeeded === isGiven) return;
  const message = isNeeded ? `${role} needs at least one ${kind}.` : `${role} is for no ${kind}.`;
  throw invalid("role_scope_refused", message);
}

/**
 * Errors: invalid and forbidden role_*; not_found for a holder, school or app; conflict staff_role_exists,
 * partners_not_confirmed.
 */
export async function giveRole(
  tx: Transaction,
  newRole: NewRole,
  by: { giver: Giver; origin: Origin; supportRoleDays?: number },
): Promise<StaffRole> {
  const { role, holder, endsAt = null } = newRole;
  const reason = typeof newRole.reason === "string" ? checkText("reason", newRole.reason, longestReason) : null;
  const schoolIds = [...new Set(newRole.schoolIds ?? [])];
  const clientIds = [...new Set(newRole.clientIds ?? [])];
  const { at } = by.origin;
  checkRole({ ...newRole, schoolIds, clientIds }, at, by.supportRoleDays ?? usualSupportDays);
  refuseGiver(by.giver, role, schoolIds);
  await refuseMissing(tx, { holder, schoolIds, clientIds });
  await refuseHeld(tx, { role, holder, schoolIds, clientIds, endsAt }, at);
  if ("clientId" in holder) await refuseUnconfirmed(tx, { ...newRole, holder, schoolIds, clientIds }, by);
  const made = await tx.prisma.staffRole.create({
    data: {
      id: makeUuid(at) as StaffRoleId,
      role,
      ...holder,
      reason,
      endsAt,
      givenAt: at,
      schools: { create: schoolIds.map((schoolId) => ({ schoolId })) },
      apps: { create: clientIds.map((clientId) => ({ clientId })) },
    },
    include: whole,
  });
  await recordAll(tx, "staff_role_given", presentRole(made), by.origin);
  return presentRole(made);
}

// Otherwise two operators could withdraw each other's role at the same time.
const operators = { name: "staff_role.operators" };

/**
 * Returns what was withdrawn. Those who run a school end support there; at schools beyond their reach it stays.
 * Errors: forbidden role_beyond_own; not_found; conflict last_operator.
 */
export async function withdrawRole(
  tx: Transaction,
  id: StaffRoleId,
  by: { giver: Giver; origin: Origin },
): Promise<StaffRole> {
  await lockName(tx, operators);
  const role = await getRole(tx, id);
  const schoolIds = listEnded(by.giver, role);
  if (role.role === "OPERATOR" && !(await isOperatorLeft(tx, [id]))) throw lastOperator();
  if (schoolIds.length === role.schoolIds.length) await tx.prisma.staffRole.delete({ where: { id } });
  else await tx.prisma.staffRoleSchool.deleteMany({ where: { roleId: id, schoolId: { in: schoolIds } } });
  const withdrawn = { ...role, schoolIds };
  await recordAll(tx, "staff_role_withdrawn", withdrawn, by.origin);
  return withdrawn;
}

/** The schools of a role where this giver ends it. */
function listEnded(giver: Giver, { role, schoolIds }: StaffRole): SchoolId[] {
  const { schoolIds: ending } = reachOf(giver);
  const reached = schoolIds.filter((id) => ending.has(id));
  if (!isOperator(giver) && rolesEndedBySchools.includes(role) && reached.length > 0) return reached;
  refuseGiver(giver, role, schoolIds);
  return schoolIds;
}

export async function refuseLastOperatorLeaves(tx: Transaction, holder: RoleHolder): Promise<void> {
  if ((await listLast(tx, holder)).length > 0) throw lastOperator();
}

/** The operators among these people if no other would remain. Concurrent removals wait. */
export async function listLastOperators(tx: Transaction, personIds: readonly PersonId[]): Promise<PersonId[]> {
  return (await listLast(tx, { personId: { in: [...personIds] } })).map(({ personId }) => personId as PersonId);
}

async function listLast(tx: Transaction, holders: Prisma.StaffRoleWhereInput) {
  const where = { role: "OPERATOR" as const, ...holders };
  if ((await tx.prisma.staffRole.count({ where })) === 0) return [];
  await lockName(tx, operators);
  const leaving = await tx.prisma.staffRole.findMany({ where, select: { id: true, personId: true } });
  const ids = leaving.map(({ id }) => id);
  return (await isOperatorLeft(tx, ids)) ? [] : leaving;
}

async function isOperatorLeft({ prisma }: Transaction, leaving: readonly string[]): Promise<boolean> {
  const works: Prisma.StaffRoleWhereInput = {
    OR: [{ personId: null }, { person: { status: "ACTIVE", blockedAt: null } }],
  };
  const others = await prisma.staffRole.count({
    where: { ...works, role: "OPERATOR", endsAt: null, id: { notIn: [...leaving] } },
  });
  return others > 0;
}

const lastOperator = () =>
  new AppError("conflict", "last_operator", "The last operator cannot be removed. Give the role to another first.");

async function refuseMissing(
  { prisma }: Transaction,
  { holder, schoolIds, clientIds }: { holder: RoleHolder; schoolIds: SchoolId[]; clientIds: ClientId[] },
): Promise<void> {
  if ("personId" in holder) {
    // Partners know the passwords of sandboxes.
    const inNoSandbox = { affiliations: { none: { school: { sandboxId: { not: null } } } } };
    const count = await prisma.person.count({ where: { id: holder.personId, status: "ACTIVE", ...inNoSandbox } });
    if (count === 0) throw new AppError("not_found", "person_not_found", "The person does not exist.");
  }
  const apps = "clientId" in holder ? [...new Set([...clientIds, holder.clientId])] : clientIds;
  if ((await prisma.school.count({ where: { id: { in: schoolIds }, sandboxId: null } })) < schoolIds.length)
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
  if ((await prisma.app.count({ where: { clientId: { in: apps } } })) < apps.length)
    throw new AppError("not_found", "app_not_found", "There is no such app.");
}

async function refuseHeld(tx: Transaction, newRole: NewRole, now: Date): Promise<void> {
  const { role, holder, schoolIds = [], clientIds = [], endsAt = null } = newRole;
  const held = await findRoles(tx, holder, now);
  const covers = (other: StaffRole) =>
    other.role === role &&
    schoolIds.every((id) => other.schoolIds.includes(id)) &&
    clientIds.every((id) => other.clientIds.includes(id)) &&
    (other.endsAt === null || (endsAt !== null && other.endsAt >= endsAt));
  if (held.some(covers)) throw new AppError("conflict", "staff_role_exists", "The holder has this role already.");
}

type OfApp = Pick<NewRole, "role" | "confirmPartners"> & {
  holder: { clientId: ClientId };
  schoolIds: SchoolId[];
  clientIds: ClientId[];
};

/** Partners know their app's secret, so the app's role must not exceed theirs unless an operator confirms it. */
async function refuseUnconfirmed(
  tx: Transaction,
  { holder, confirmPartners = false, ...role }: OfApp,
  { giver, origin: { at } }: { giver: Giver; origin: Origin },
): Promise<void> {
  const partners = await listRolesHeld(tx, { role: "PARTNER", apps: { some: holder } }, at);
  const others = partners.filter(
    (partner) => !("clientId" in partner.holder) || partner.holder.clientId !== holder.clientId,
  );
  const held = await Promise.all(others.map((partner) => findRoles(tx, partner.holder, at)));
  if (held.every((roles) => cover(roles, role))) return;
  if (!isOperator(giver)) {
    const message = "A partner manages this app, so only an operator can give it a role.";
    throw new AppError("forbidden", "role_beyond_own", message);
  }
  if (confirmPartners) return;
  const message =
    "A partner manages this app and knows its secret, so the partner can do what the role allows. From then on only an operator changes the app. Confirm both with confirmPartners.";
  throw new AppError("conflict", "partners_not_confirmed", message);
}

async function recordAll(tx: Transaction, action: AuditAction, role: StaffRole, origin: Origin): Promise<void> {
  const holder = "personId" in role.holder ? { personId: role.holder.personId } : {};
  const automation = "clientId" in role.holder ? { holderClientId: role.holder.clientId } : {};
  const detail = { role: role.role, roleId: role.id, ...automation, ...(role.endsAt && { endsAt: role.endsAt }) };
  const subjects = [
    ...role.schoolIds.map((schoolId) => ({ schoolId })),
    ...role.clientIds.map((clientId) => ({ clientId })),
  ];
  for (const subject of subjects.length > 0 ? subjects : [{}])
    await recordAudit(tx, { ...origin, action, ...holder, ...subject, detail });
}

const mostAppsWithoutScopes = 10;

/** Errors: forbidden role_forbids if the role was withdrawn meanwhile; conflict too_many_apps_without_scopes. */
export async function extendPartnerRole(
  tx: Transaction,
  { role, clientId }: { role: StaffRole; clientId: ClientId },
  origin: Origin,
): Promise<void> {
  const { count } = await tx.prisma.staffRole.updateMany({ where: { id: role.id }, data: { role: role.role } });
  if (count === 0) throw new AppError("forbidden", "role_forbids", "None of your staff roles allows this operation.");
  await tx.prisma.staffRoleApp.create({ data: { roleId: role.id, clientId } });
  const without = await tx.prisma.staffRoleApp.count({
    where: { roleId: role.id, app: { scopes: { isEmpty: true } } },
  });
  if (without > mostAppsWithoutScopes) {
    const message = `${mostAppsWithoutScopes} of your apps have no scopes. Ask for scopes, or have some deleted, first.`;
    throw new AppError("conflict", "too_many_apps_without_scopes", message);
  }
  const detail = { role: role.role, roleId: role.id };
  await recordAudit(tx, { ...origin, action: "staff_role_extended", clientId, detail });
}
