/*
 * access: decides what an app may do and see. Its public API.
 *
 * Nouns:      app (its registration), school grant (what a school allows an app: sign-on for an audience and,
 *             separately, sync), synced group, sign-in (a person who has signed in to an app), scope, withheld item
 *             (an attribute or scope that an app has and does not get at a school).
 * Invariants: without sync a school does not exist for the app; an app sees a person only through a school that
 *             syncs; a person who has signed in stays a user; every reader includes the SQL of visibility.ts and adds
 *             no rule of its own.
 * Never knows: HTTP, how tokens are stored, sessions, pages, the shape of a response.
 */
export * from "./agreements/acceptance.ts";
export * from "./agreements/agreement.ts";
export * from "./agreements/draft.ts";
export { createApp, deleteApp, updateApp, type AppUpdate, type ForgetApp, type NewApp } from "./apps/app.ts";
export { appIsSuspended, defaultIdTokenAlgorithm, resumeApp, suspendApp } from "./apps/app.ts";
export * from "./apps/find.ts";
export * from "./apps/likeness.ts";
export { findProfile, findProfiles, type AppProfile, type ProfileUpdate } from "./apps/profile.ts";
export { deleteLogo, findLogo, logoOf, logoPathOf, putLogo, type LogoName } from "./apps/profile.ts";
export { checkCalledUri, checkScopePlatform, refuseOthersSector } from "./apps/rules.ts";
export * from "./apps/scope-request.ts";
export { endOldSecret, listSecretHashes, rotateClientSecret, secretMatches } from "./apps/secret.ts";
export * from "./apps-of-person.ts";
export * from "./attributes.ts";
export { againAfterDeadlock, changeDirectory, previewChange } from "./change.ts";
export { makeAnnouncedSweep, sweepAnnounced, type EventProperty } from "./change-tracking/index.ts";
export { authMethodOf } from "./client-authentication.ts";
export * from "./disclosure/find.ts";
export { makeDisclosureSweep } from "./disclosure/record.ts";
export * from "./erasure-record.ts";
export { askingApps } from "./erasures.ts";
export * from "./grants/catalogue.ts";
export {
  findGrant,
  listGrants,
  listGrantsByName,
  setGrant,
  setSignOn,
  setSync,
  setSyncedGroups,
} from "./grants/grant.ts";
export { withdrawGrant, type GrantKey, type GrantSettings, type SignOnAudience } from "./grants/grant.ts";
export { makeLastCalls, type LastCalls, type ReadKind } from "./grants/last-calls.ts";
export * from "./id-move/index.ts";
export { mergeGrants, separateGrants, type MergedApp } from "./merge-grants.ts";
export { appIdOf, appIds, findAppPersonId, findPersonByAppId, idKindOf, isCutOver } from "./pairwise.ts";
export { listAppIds, subjectNow } from "./pairwise.ts";
export { peopleInOrder } from "./people-in-order.ts";
export { everybodyInRoster, lastChange } from "./synced-people.ts";
export * from "./purge.ts";
export * from "./readable.ts";
export * from "./sign-on/claims.ts";
export * from "./sign-on/right.ts";
export * from "./sign-on/sign-in.ts";
export * from "./token.ts";
export * from "./usage/access-report.ts";
export type { BySchoolFilter, SchoolPosition } from "./usage/by-school.ts";
export { listSeats, makeSeatCount } from "./usage/seats.ts";
export * from "./view-version.ts";
export * from "./visibility.ts";
export { setWithheld } from "./withheld.ts";
export { heldFromPerson, schoolsOf, withheldItems, type PeopleReader, type WithheldItem } from "./withheld-sql.ts";
