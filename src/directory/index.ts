/*
 * directory: the truth about who is where.
 *
 * Nouns:      school, person, affiliation (a person at a school), group (of one school), membership (a person in a group).
 * Invariants: a person has at least one school, their home; a membership is in a group of one of the person's schools;
 *             a name is whole or null; a soft-deleted person has a date of purge, an active one has none;
 *             every change is a function that takes the caller's transaction and leaves an audit line.
 * Never knows: apps, grants, sign-on, HTTP.
 */
export { originOf } from "./change.ts";
export type { Change, Touched } from "./change.ts";
export { createGroup, deleteGroup, restoreGroup } from "./group.ts";
export type { NewGroup } from "./group.ts";
export type { GroupId, PersonId, SchoolId } from "./ids.ts";
export { addAffiliation, addMembership, removeMembership } from "./membership.ts";
export type { NewMembership } from "./membership.ts";
export { createPerson, deletePerson, restorePerson, softDeletePerson } from "./person.ts";
export type { NewPerson, PersonName, PersonRole } from "./person.ts";
export { createSchool } from "./school.ts";
export type { NewSchool } from "./school.ts";
export { makePersonSortKey, makeSortKey } from "./sort-key.ts";
