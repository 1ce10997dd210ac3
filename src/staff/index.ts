/*
 * staff: who runs schools, apps and the service, and for which of them. Its public API.
 *
 * Nouns:      staff role (what its holder may do, and for which schools or apps), holder (a person, or an app for
 *             automation), reach (the schools and apps of some roles together).
 * Invariants: a role is held by a person or by an app; an operator's is for everything, a partner's for apps, all
 *             others for schools; support ends and has a reason; nobody gives a role that reaches further than theirs;
 *             the last operator keeps the role; the command line can always give one.
 * Never knows: HTTP, tokens, operations of a contract.
 */
export { giveClassTeacherRoles, listProposedTeachers, type ClassTeacherProposal } from "./class-teachers.ts";
export { extendPartnerRole } from "./extend-role.ts";
export {
  giveRole,
  listLastOperators,
  refuseLastOperatorLeaves,
  rolesEndedBySchools,
  rolesGivenBySchools,
  withdrawRole,
  type NewRole,
} from "./give-role.ts";
export { holdsAnyRole, holdsRoleBeyondHome, mayAlwaysUsePassword } from "./held-roles-sql.ts";
export { listHigherHolders, refuseHigherHolder } from "./higher-holder.ts";
export { findRoles, getRole, listRoles, listRolesOf } from "./find-roles.ts";
export { mergeClassTeachers, separateClassTeachers } from "./merge-roles.ts";
export { everything, groupsInReach, isGroupReached, isReached, joinReach, type Reach } from "./reach.ts";
export {
  adminScopesOf,
  staffRoleNames,
  type RoleHolder,
  targetOf,
  type StaffRole,
  type StaffRoleId,
  type StaffRoleName,
} from "./role.ts";
