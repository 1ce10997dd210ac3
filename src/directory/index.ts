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
export { auditChange, originOf, refuseConstraints, type Change, type Touched } from "./change.ts";
export { describeAct, findGrades, gradeOfNames } from "./classes.ts";
export * from "./data-request.ts";
export * from "./find.ts";
export { createGroup, deleteGroup, renameGroup, restoreGroup, setGroupSourceId } from "./group.ts";
export type { GroupType, NewGroup } from "./group.ts";
export * from "./handover.ts";
export * from "./ids.ts";
export * from "./membership.ts";
export * from "./merger.ts";
export { createPeople, createPerson, personNameOf, updatePerson } from "./person.ts";
export type { NewPerson, PersonName, PersonRole, PersonUpdate } from "./person.ts";
export * from "./person-status.ts";
export * from "./retention-policy.ts";
export * from "./school.ts";
export * from "./sign-in-state.ts";
export { naturalKey, type SortOrder } from "./order.ts";
export * from "./sort-key.ts";
export { checkLines, checkName, checkText, cleanText, findTextFault } from "./text.ts";
export { allowsGroupStep, allowsPersonStep, groupStatusAfter, personStatusAfter } from "./transitions.ts";
export { groupTransitions, personTransitions } from "./transitions.ts";
export type { GroupStatus, GroupStep, PersonStatus, PersonStep } from "./transitions.ts";
