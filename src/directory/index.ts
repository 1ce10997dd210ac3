/*
 * directory: which people are at which schools and in which groups. Its public API.
 *
 * Nouns:      school, person, affiliation (a person at a school), group (of one school), membership (a person in a
 *             group), change (the transaction that alters any of them), tombstone (id and date of a person who was
 *             deleted for good).
 * Invariants: a person has a home school, except staff who are not at a school; a membership is in a group of one of
 *             the person's schools; a name is complete or null; only soft-deleted people have a purge date;
 *             transitions.ts decides which steps a status allows; a use case names its subjects (`touch`) before it
 *             writes, and records an audit entry; nothing is written if nothing differs.
 * Never knows: apps, school grants, HTTP; of sign-on only whether a person has a login.
 */
export { joinSchool, leaveSchool, movePerson, setHomeSchool, sourceIdAtNextHome } from "./affiliation.ts";
export { auditChange, originOf, type Change, type Touched } from "./change.ts";
export { countSignIns } from "./class-sign-ins.ts";
export {
  closeDataRequest,
  countDataRequests,
  extendDataRequest,
  getDataRequest,
  getOpenDataRequest,
  listDataRequests,
  makeDataRequestSweep,
  noteExport,
  recordDataRequest,
  type DataRequest,
  type DataRequestId,
} from "./data-request.ts";
export { naturalKey, type PeopleSort, type SortOrder } from "./order.ts";
export {
  findGroup,
  findPerson,
  findSchool,
  listGroups,
  listPeople,
  listSchools,
  type Group,
  type Person,
} from "./find.ts";
export { findGrades, gradeOfNames } from "./grade.ts";
export {
  createGroup,
  deleteGroup,
  renameGroup,
  restoreGroup,
  setGroupSourceId,
  type GroupType,
  type NewGroup,
} from "./group.ts";
export {
  acceptHandover,
  closeHandover,
  createHandover,
  getHandover,
  listHandovers,
  listOpenHandovers,
  makeHandoverSweep,
  type Handover,
  type HandoverId,
  type HandoverState,
} from "./handover.ts";
export type { GroupId, PersonId, SchoolId } from "./ids.ts";
export { listGroupsCalled } from "./look-up.ts";
export { addMembership, removeMembership, setMembershipRole, type NewMembership } from "./membership.ts";
export {
  createPeople,
  createPerson,
  nameOf as personNameOf,
  updatePerson,
  type NewPerson,
  type PersonName,
  type PersonRole,
  type PersonUpdate,
} from "./person.ts";
export {
  deletePerson,
  listPurgeable,
  purgePerson,
  restorePerson,
  softDeletePerson,
  type ForgetPerson,
} from "./person-status.ts";
export {
  findPeriods,
  findRetention,
  joinRetention,
  type Retention,
  type RetentionDefaults,
  type RetentionOrigin,
  type RetentionStart,
} from "./retention-policy.ts";
export { hasWayToSignIn, isInSignInState, type SignInState } from "./sign-in-state.ts";
export {
  createSchool,
  isSandboxSchool,
  updateSchool,
  type NewSchool,
  type School,
  type SchoolUpdate,
} from "./school.ts";
export {
  getMerger,
  listMergedGroups,
  listMergers,
  makeMergerSweep,
  mergeSchools,
  openMerger,
  recordMergedApps,
  separateSchools,
  type Merged,
  type Merger,
  type MergerId,
} from "./merger.ts";
export { checkSchoolLogo, deleteSchoolLogo, findSchoolLogo, putSchoolLogo } from "./school-logo.ts";
export { makePersonSortKey, makeSortKey } from "./sort-key.ts";
export { checkLines, checkName, checkText, cleanText, findTextFault } from "./text.ts";
export {
  allowsGroupStep,
  allowsPersonStep,
  groupStatusAfter,
  groupTransitions,
  personStatusAfter,
  personTransitions,
  type GroupStatus,
  type GroupStep,
  type PersonStatus,
  type PersonStep,
} from "./transitions.ts";
export { describeAct } from "./classes-of-people.ts";
