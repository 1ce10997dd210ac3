/*
 * staff: who runs schools, apps and the service, and for which of them. Its public API.
 *
 * Nouns:      staff role (what somebody of the staff may do, and for which schools or apps), holder (the person or the
 *             app, for automation, that has it), reach (the schools and apps of some roles together).
 * Invariants: a role is held by a person or by an app; an operator's is for everything, a partner's for apps, all
 *             others for schools; support ends and has a reason; nobody gives a role that reaches further than theirs;
 *             the role of the last operator is not withdrawn; the command line can always give one.
 * Never knows: HTTP, tokens, what an operation of a contract is.
 */
export { extendPartnerRole } from "./extend-role.ts";
export { findRoles, listRoleHolders, listRolesOf, type Holder } from "./find-roles.ts";
export { giveRole, listLastOperators, refuseLastOperatorLeaves, withdrawRole, type NewRole } from "./give-role.ts";
export { listHigherHolders, refuseHigherHolder } from "./higher-holder.ts";
export { getRole, listRoles, type ListedRole, type RoleFilter } from "./list-roles.ts";
export {
  everything,
  groupsInReach,
  isGroupReached,
  isReached,
  joinReach,
  type GroupsInReach,
  type Reach,
} from "./reach.ts";
export { adminScopesOf, staffRoleNames, type StaffRole, type StaffRoleId, type StaffRoleName } from "./role.ts";
