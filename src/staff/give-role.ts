import type { Prisma } from "../../generated/prisma/client.ts";
import type { ClientId } from "../access/index.ts";
import { checkText } from "../directory/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { run, sql, statement } from "../platform/database/sql.ts";
import { findRoles } from "./find-roles.ts";
import { cover } from "./higher-holder.ts";
import { getRole } from "./list-roles.ts";
import { isReached, joinReach } from "./reach.ts";
import { atTime, presentRole, whole } from "./records.ts";
import type { RoleHolder, StaffRole, StaffRoleId, StaffRoleName } from "./role.ts";

export type NewRole = {
  role: StaffRoleName;
  holder: RoleHolder;
  schoolIds?: readonly SchoolId[];
  clientIds?: readonly ClientId[];
  reason?: string | null;
  endsAt?: Date | null;
  /** Says that the giver knows of the partners who manage the app that gets the role. */
  confirmPartners?: boolean | undefined;
};

/** Who gives: the roles that they hold; null for the command line, which may give any. */
type Giver = readonly StaffRole[] | null;

// Whoever runs a school decides who works there; all other roles are an operator's to give.
const givenBySchools: ReadonlySet<StaffRoleName> = new Set(["SCHOOL_ADMIN", "SECRETARY", "CLASS_TEACHER"]);
const givingForSchools: ReadonlySet<StaffRoleName> = new Set(["DISTRICT", "SCHOOL_ADMIN"]);
const longestReason = 200;
const usualSupportDays = 14;
const dayInMs = 86_400_000;

/** Errors: forbidden role_beyond_own. */
function refuseGiver(giver: Giver, role: StaffRoleName, schoolIds: readonly SchoolId[]): void {
  if (giver === null || giver.some((held) => held.role === "OPERATOR")) return;
  const reach = joinReach(giver.filter((held) => givingForSchools.has(held.role)));
  if (givenBySchools.has(role) && isReached(reach, { everySchool: schoolIds })) return;
  const message = "A role can be given by an operator, and for a school by its district and its admins.";
  throw new AppError("forbidden", "role_beyond_own", message);
}

const wrong = (code: string, message: string) => new AppError("invalid", code, message);

/** Errors: invalid role_scope_refused, role_end_required, role_reason_required, role_end_past, role_too_long. */
function checkRole(given: NewRole, now: Date, supportRoleDays: number): void {
  const { role, schoolIds = [], clientIds = [], reason = null, endsAt = null } = given;
  const forSchools = role !== "OPERATOR" && role !== "PARTNER";
  if (forSchools !== schoolIds.length > 0) {
    const message = forSchools ? `${role} needs at least one school.` : `${role} is for no school.`;
    throw wrong("role_scope_refused", message);
  }
  if ((role === "PARTNER") !== clientIds.length > 0) {
    const message = role === "PARTNER" ? "PARTNER needs at least one app." : `${role} is for no app.`;
    throw wrong("role_scope_refused", message);
  }
  if (role === "SUPPORT" && endsAt === null) throw wrong("role_end_required", "SUPPORT needs a time at which it ends.");
  if (role === "SUPPORT" && reason === null)
    throw wrong("role_reason_required", "SUPPORT needs a reason, which the school sees.");
  if (endsAt !== null && endsAt <= now) throw wrong("role_end_past", "The end of a role lies in the future.");
  if (role === "SUPPORT" && endsAt !== null && endsAt.getTime() > now.getTime() + supportRoleDays * dayInMs)
    throw wrong(
      "role_too_long",
      `SUPPORT is given for ${supportRoleDays} days at most. Give it again when it has ended.`,
    );
}

/**
 * Gives somebody a role.
 *
 * Units:  supportRoleDays in days of 24 hours.
 * Errors: those of `checkRole` and `checkText`; forbidden role_beyond_own; not_found person_not_found, app_not_found,
 *         school_not_found; conflict staff_role_exists where the holder has it for all of that, and as long, and
 *         partners_not_confirmed.
 */
export async function giveRole(
  tx: Transaction,
  given: NewRole,
  by: { giver: Giver; origin: Origin; supportRoleDays?: number },
): Promise<StaffRole> {
  const { role, holder, endsAt = null } = given;
  const reason = typeof given.reason === "string" ? checkText("reason", given.reason, longestReason) : null;
  const schoolIds = [...new Set(given.schoolIds ?? [])];
  const clientIds = [...new Set(given.clientIds ?? [])];
  const { at } = by.origin;
  checkRole({ ...given, schoolIds, clientIds }, at, by.supportRoleDays ?? usualSupportDays);
  refuseGiver(by.giver, role, schoolIds);
  await refuseMissing(tx, { holder, schoolIds, clientIds });
  await refuseHeld(tx, { role, holder, schoolIds, clientIds, endsAt }, at);
  if ("clientId" in holder) await refuseUnconfirmed(tx, { ...given, holder, schoolIds, clientIds }, by);
  const id = makeUuid(at) as StaffRoleId;
  const made = await tx.prisma.staffRole.create({
    data: {
      id,
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

// Two operators who withdraw each other's role at the same time would leave none.
const lockOperators = statement(() => sql`SELECT pg_advisory_xact_lock(hashtext('staff_role.operators'))`);

/**
 * Takes a role away, at once.
 *
 * Errors: not_found staff_role_not_found; forbidden role_beyond_own; conflict last_operator.
 */
export async function withdrawRole(
  tx: Transaction,
  id: StaffRoleId,
  by: { giver: Giver; origin: Origin },
): Promise<void> {
  await run(tx, lockOperators, {});
  const role = await getRole(tx, id);
  refuseGiver(by.giver, role.role, role.schoolIds);
  if (role.role === "OPERATOR") await refuseLastOperator(tx, [id]);
  await tx.prisma.staffRole.delete({ where: { id } });
  await recordAll(tx, "staff_role_withdrawn", role, by.origin);
}

/**
 * Refuses what would leave nobody who can give roles: that the last operator is removed, blocked or deleted.
 *
 * Shape:  holds off those who remove another operator until the end of the transaction.
 * Errors: conflict last_operator.
 */
export async function refuseLastOperatorLeaves(tx: Transaction, holder: RoleHolder): Promise<void> {
  const where = { role: "OPERATOR" as const, ...holder };
  if ((await tx.prisma.staffRole.count({ where })) === 0) return;
  await run(tx, lockOperators, {});
  const held = await tx.prisma.staffRole.findMany({ where, select: { id: true } });
  await refuseLastOperator(
    tx,
    held.map(({ id }) => id),
  );
}

/**
 * Lists the operators among people who are to be removed together, where no other operator would be left.
 *
 * Shape:  holds off others as refuseLastOperatorLeaves does.
 */
export async function listLastOperators(tx: Transaction, personIds: readonly PersonId[]): Promise<PersonId[]> {
  const where = { role: "OPERATOR" as const, personId: { in: [...personIds] } };
  if ((await tx.prisma.staffRole.count({ where })) === 0) return [];
  await run(tx, lockOperators, {});
  const held = await tx.prisma.staffRole.findMany({ where, select: { id: true, personId: true } });
  const leaving = held.map(({ id }) => id);
  return (await isOperatorLeft(tx, leaving)) ? [] : held.map(({ personId }) => personId as PersonId);
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

async function refuseLastOperator(tx: Transaction, leaving: readonly string[]): Promise<void> {
  if (await isOperatorLeft(tx, leaving)) return;
  throw new AppError(
    "conflict",
    "last_operator",
    "The last operator cannot be removed. Give the role to another first.",
  );
}

async function refuseMissing(
  { prisma }: Transaction,
  { holder, schoolIds, clientIds }: { holder: RoleHolder; schoolIds: SchoolId[]; clientIds: ClientId[] },
): Promise<void> {
  if ("personId" in holder) {
    // A partner knows the passwords of a sandbox.
    const inNoSandbox = { affiliations: { none: { school: { sandboxId: { not: null } } } } };
    const found = await prisma.person.count({ where: { id: holder.personId, status: "ACTIVE", ...inNoSandbox } });
    if (found === 0) throw new AppError("not_found", "person_not_found", "The person does not exist.");
  }
  const apps = "clientId" in holder ? [...new Set([...clientIds, holder.clientId])] : clientIds;
  if ((await prisma.school.count({ where: { id: { in: schoolIds }, sandboxId: null } })) < schoolIds.length)
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
  if ((await prisma.app.count({ where: { clientId: { in: apps } } })) < apps.length)
    throw new AppError("not_found", "app_not_found", "There is no such app.");
}

async function refuseHeld(tx: Transaction, given: NewRole, now: Date): Promise<void> {
  const { role, holder, schoolIds = [], clientIds = [], endsAt = null } = given;
  const held = await findRoles(tx, holder, now);
  const covers = (one: StaffRole) =>
    one.role === role &&
    schoolIds.every((id) => one.schoolIds.includes(id)) &&
    clientIds.every((id) => one.clientIds.includes(id)) &&
    (one.endsAt === null || (endsAt !== null && one.endsAt >= endsAt));
  if (held.some(covers)) throw new AppError("conflict", "staff_role_exists", "The holder has this role already.");
}

type OfApp = Pick<NewRole, "role" | "confirmPartners"> & {
  holder: { clientId: ClientId };
  schoolIds: SchoolId[];
  clientIds: ClientId[];
};

/**
 * Refuses to give an app a role that goes beyond those of a partner who manages it and knows its secret.
 *
 * Errors: forbidden role_beyond_own for all but operators; conflict partners_not_confirmed.
 */
async function refuseUnconfirmed(
  tx: Transaction,
  { holder, confirmPartners = false, ...role }: OfApp,
  { giver, origin: { at } }: { giver: Giver; origin: Origin },
): Promise<void> {
  const partners = await tx.prisma.staffRole.findMany({
    where: { role: "PARTNER", apps: { some: holder }, ...atTime(at) },
    include: whole,
  });
  const others = partners.filter(({ clientId }) => clientId !== holder.clientId);
  const held = await Promise.all(others.map((partner) => findRoles(tx, presentRole(partner).holder, at)));
  if (held.every((roles) => cover(roles, role))) return;
  if (giver !== null && !giver.some((one) => one.role === "OPERATOR")) {
    const message = "A partner manages this app, so only an operator can give it a role.";
    throw new AppError("forbidden", "role_beyond_own", message);
  }
  if (confirmPartners) return;
  const message =
    "A partner manages this app and knows its secret, so the partner can do what the role allows. From then on only an operator changes the app. Confirm both with confirmPartners.";
  throw new AppError("conflict", "partners_not_confirmed", message);
}

/** One line for each school and app that the role is for, so that each finds it in its own audit. */
async function recordAll(tx: Transaction, action: string, role: StaffRole, origin: Origin): Promise<void> {
  const holder = "personId" in role.holder ? { personId: role.holder.personId } : {};
  const automation = "clientId" in role.holder ? { holderClientId: role.holder.clientId } : {};
  const detail = { role: role.role, roleId: role.id, ...automation, ...(role.endsAt && { endsAt: role.endsAt }) };
  const places = [
    ...role.schoolIds.map((schoolId) => ({ schoolId })),
    ...role.clientIds.map((clientId) => ({ clientId })),
  ];
  for (const place of places.length > 0 ? places : [{}])
    await recordAudit(tx, { ...origin, action, ...holder, ...place, detail });
}
