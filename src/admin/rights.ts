import { joinReach, type Reach, type StaffRole, type StaffRoleName } from "../staff/index.ts";
import { AppError } from "../platform/errors.ts";
import type { OperationId } from "./handler.ts";

const schools = ["OPERATOR", "DISTRICT", "SCHOOL_ADMIN"] as const;
const office = [...schools, "SECRETARY"] as const;
const seeOffice = [...office, "SUPPORT"] as const;
const classes = [...office, "CLASS_TEACHER"] as const;
const seeClasses = [...classes, "SUPPORT"] as const;
const partners = ["OPERATOR", "PARTNER"] as const;
const everybody = [...seeClasses, "PARTNER"] as const;

/** Which roles allow which operation. What a role is for limits them further: see `Reach` of staff. */
export const rights = {
  getMe: everybody,
  listSchools: seeClasses,
  getSchool: seeClasses,
  createSchool: ["OPERATOR"],
  updateSchool: schools,
  listGroups: seeClasses,
  getGroup: seeClasses,
  createGroup: office,
  updateGroup: office,
  deleteGroup: office,
  restoreGroup: office,
  listMembers: seeClasses,
  putMembership: office,
  deleteMembership: office,
  listPeople: seeOffice,
  getPerson: seeOffice,
  createPerson: office,
  updatePerson: office,
  softDeletePerson: office,
  restorePerson: office,
  deletePerson: schools,
  movePerson: office,
  setHomeSchool: office,
  joinSchool: office,
  leaveSchool: office,
  signOutPerson: office,
  blockPerson: office,
  unblockPerson: office,
  getLogin: seeClasses,
  setLogin: office,
  newPassword: classes,
  listApps: [...schools, "PARTNER", "SUPPORT"],
  getApp: [...schools, "PARTNER", "SUPPORT"],
  createApp: ["OPERATOR"],
  updateApp: partners,
  deleteApp: ["OPERATOR"],
  rotateSecret: partners,
  endOldSecret: partners,
  listGrants: [...schools, "PARTNER", "SUPPORT"],
  getGrant: [...schools, "PARTNER", "SUPPORT"],
  putGrant: schools,
  deleteGrant: schools,
  listEndpoints: partners,
  createEndpoint: partners,
  getEndpoint: partners,
  updateEndpoint: partners,
  deleteEndpoint: partners,
  rotateEndpointSecret: partners,
  testEndpoint: partners,
  listDeliveries: partners,
  getDelivery: partners,
  redeliver: partners,
  redeliverFailed: partners,
  listStaffRoles: [...schools, "SUPPORT"],
  giveStaffRole: schools,
  withdrawStaffRole: schools,
  listAudit: [...schools, "PARTNER", "SUPPORT"],
} as const satisfies Record<OperationId, readonly StaffRoleName[]>;

/**
 * What the roles of a caller that allow an operation are for, and the first of these roles.
 *
 * Errors: forbidden role_forbids where none does.
 */
export function allow(roles: readonly StaffRole[], operation: OperationId): { reach: Reach; role: StaffRoleName } {
  const allowing = roles.filter(({ role }) => (rights[operation] as readonly StaffRoleName[]).includes(role));
  const [first] = allowing;
  if (first === undefined)
    throw new AppError("forbidden", "role_forbids", "None of your staff roles allows this operation.");
  return { reach: joinReach(allowing), role: first.role };
}
