import * as staff from "../staff/index.ts";
import type { Reach, StaffRole, StaffRoleName } from "../staff/index.ts";
import { AppError } from "../platform/errors.ts";
import { staffOperations } from "../../generated/openapi/admin-operations.ts";
import type { OperationId } from "./handler.ts";
import type { SetUpCaller } from "./set-up.ts";

type Callers = {
  roles: readonly StaffRoleName[];
  /** People without a role may call it about themselves. */
  self: boolean;
  /** The IT contact of a school with a set-up link, at its connection. */
  setUpLink: boolean;
};

/** Who may call each operation, from the contract: `Reach` of staff limits its roles to schools and apps. */
export const callers: Readonly<Record<OperationId, Callers>> = staffOperations;

type Allowed = { reach: Reach; role: StaffRoleName | undefined };

const isAllowed = (role: StaffRoleName, operation: OperationId): boolean => callers[operation].roles.includes(role);

export const roleForbids = (message: string): AppError => new AppError("forbidden", "role_forbids", message);

/**
 * Returns the reach of the roles that allow an operation, and the first of these roles. `isOwn`: the caller asks about
 * themselves, so the reach does not matter.
 *
 * Errors: forbidden role_forbids if no role allows the operation.
 */
export function allow(roles: readonly StaffRole[], operation: OperationId, isOwn: boolean): Allowed {
  const allowing = roles.filter(({ role }) => isAllowed(role, operation));
  const [first] = allowing;
  if (isOwn && callers[operation].self) return { reach: staff.everything, role: first?.role };
  if (first === undefined) throw roleForbids("None of your staff roles allows this operation.");
  return { reach: staff.joinReach(allowing), role: first.role };
}

/** The same for the IT contact with a set-up link, who has no role. */
export function allowSetUp({ schoolId }: SetUpCaller, operation: OperationId): Allowed {
  if (!callers[operation].setUpLink) throw roleForbids("A set-up link does not allow this.");
  return { reach: { ...staff.everything, all: false, schoolIds: new Set([schoolId]) }, role: undefined };
}

type HeldRole = { role: StaffRoleName; schoolIds: readonly string[]; clientIds: readonly string[] };

const mayCall = (roles: readonly HeldRole[], operation: OperationId, schoolId?: string): boolean =>
  roles.some(
    ({ role, schoolIds }) =>
      isAllowed(role, operation) &&
      (schoolId === undefined || staff.targetOf(role) === "service" || schoolIds.includes(schoolId)),
  );

/** What somebody may do, so that a page offers only what the admin API allows. */
export type Permissions = {
  may(operation: OperationId, schoolId?: string): boolean;
  reachesAll: boolean;
  isPartner: boolean;
  /** The apps that a partner looks after; null for an operator, who looks after all. */
  ownApps: readonly string[] | null;
  rolesToGive(schoolId: string | null): readonly StaffRoleName[];
  /** The roles that they may withdraw there. */
  rolesToEnd(schoolId: string | null): readonly StaffRoleName[];
};

export function permissionsOf(roles: readonly HeldRole[]): Permissions {
  const reachesAll = roles.some(({ role }) => staff.targetOf(role) === "service");
  const giving = (schoolId: string | null): readonly StaffRoleName[] => {
    if (schoolId === null)
      return reachesAll ? staff.staffRoleNames.filter((role) => !staff.rolesGivenBySchools.includes(role)) : [];
    if (!mayCall(roles, "giveStaffRole", schoolId)) return [];
    return reachesAll ? [...staff.rolesGivenBySchools, "SUPPORT"] : staff.rolesGivenBySchools;
  };
  return {
    may: (operation, schoolId) => mayCall(roles, operation, schoolId),
    reachesAll,
    isPartner: roles.some(({ role }) => staff.targetOf(role) === "apps"),
    ownApps: reachesAll ? null : roles.flatMap(({ clientIds }) => clientIds),
    rolesToGive: giving,
    rolesToEnd(schoolId) {
      if (reachesAll) return staff.staffRoleNames;
      const rolesToGive = giving(schoolId);
      return rolesToGive.length === 0 ? [] : [...rolesToGive, ...staff.rolesEndedBySchools];
    },
  };
}
