/*
 * retention: soft-deletes people whom a school need no longer keep.
 *
 * Nouns:      policy (the periods that a school or a state sets, each with its reason), due (when and why a person will
 *             be soft-deleted), hold (a run that waits for staff, because it would soft-delete unusually many),
 *             exemption (a person who is kept until a date).
 * Invariants: the home school's policy decides, else its state's, else the configuration; nobody is soft-deleted before
 *             their time, during the notice after a change of the policy, while they are exempt, or while they hold a
 *             staff role; a person in a roster counts as inactive only if the policy says so; a soft deletion is an
 *             ordinary change and can be taken back.
 * Never knows: HTTP, pages, how people sign in.
 */
export { countDue, findDue, findSomeDue, givenAt, isUnusual, listDue } from "./due.ts";
export type { DueCounts, DuePerson, RetentionRules } from "./due.ts";
export { deleteExemption, findExemption, lockExemption, putExemption, type RetentionExemption } from "./exemption.ts";
export { listRetentionHolds, makeRetentionJob, releaseRetention, type RetentionHold } from "./job.ts";
export { findPolicy, listSchoolsOfState, listStatesWithPolicy, putPolicy, withProposal } from "./policy.ts";
export { type RetentionPolicy, suggestPolicy } from "./policy.ts";
export { makeSchoolAuditSweep } from "./sweep-audit.ts";
