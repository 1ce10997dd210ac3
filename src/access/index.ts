/*
 * access: the one module that decides what an app may do and see. Its public API.
 *
 * Nouns:      app (its registration), school grant (what a school gives an app: sign-on for an audience and,
 *             separately,
 *             sync), synced group, sign-in (a person who has ever signed in to an app), scope.
 * Invariants: without sync a school does not exist for the app; a person is seen only through a school that syncs;
 *             a person who has signed in stays a user; every reader composes its SQL from visibility.ts and adds no
 *             rule
 *             of its own.
 * Never knows: HTTP, how tokens are stored, sessions, pages, the shape of an answer.
 */
export { appNotFound, createApp, updateApp } from "./app.ts";
export type { AppUpdate, NewApp } from "./app.ts";
export { isSameName, refuseTakenLogo, refuseTakenName } from "./app-likeness.ts";
export { deleteLogo, findLogo, putLogo } from "./app-logo.ts";
export { findProfile, findProfiles } from "./app-profile.ts";
export type { AppProfile, AppText, ProfileUpdate } from "./app-profile.ts";
export { checkBackchannelLogoutUri } from "./backchannel-logout.ts";
export type { BackchannelLogoutUri } from "./backchannel-logout.ts";
export { findInCatalogue, findLastSignIns, listCatalogue } from "./catalogue.ts";
export type { CatalogueApp, NamedGroup } from "./catalogue.ts";
export { makeAnnouncedSweep, sweepAnnounced } from "./change-tracking/index.ts";
export type { EventProperty } from "./change-tracking/index.ts";
export { changeDirectory, previewChange } from "./change.ts";
export {
  appWithSecretNotFound,
  endOldSecret,
  listSecretHashes,
  rotateClientSecret,
  secretMatches,
} from "./client-secret.ts";
export { againAfterDeadlock } from "./deadlock.ts";
export { deleteApp } from "./delete-app.ts";
export type { ForgetApp } from "./delete-app.ts";
export { appOf, findApp, listApps, listAppsByName, lockApp, readApp } from "./find-app.ts";
export type { App, AppPlace, AppValue, Registration } from "./find-app.ts";
export { findGrant, listGrants, listGrantsByName, setGrant, setSignOn, setSync } from "./grant.ts";
export { setSyncedGroups, withdrawGrant } from "./grant.ts";
export type { GrantKey, GrantSettings, SignOnAudience } from "./grant.ts";
export { findLastCalls, makeLastCalls } from "./last-calls.ts";
export type { LastCalls } from "./last-calls.ts";
export { makePurgeJob } from "./purge.ts";
export { scopeFromWire, scopeOfContract, scopeToWire } from "./scope.ts";
export { listSignInTimes, type SignInTimes } from "./sign-in-times.ts";
export { decideScopeRequest, listScopeRequests, requestScopes } from "./scope-request.ts";
export type { ScopeRequest, ScopeRequestId } from "./scope-request.ts";
export { recordFirstSignIn, recordSignIn, recordSignInsFrom, takeOverSignIn } from "./sign-in.ts";
export {
  decideSignOnRight,
  findSignOnRight,
  listSignOnRights,
  personWorksAsStaff,
  signOnFactsOf,
} from "./sign-on-right.ts";
export type { SignOnFacts, SignOnRight } from "./sign-on-right.ts";
export * from "./attributes.ts";
export { attributesOf, listAppsOfPerson } from "./apps-of-person.ts";
export type { AppOfPerson, PersonAttribute } from "./apps-of-person.ts";
export { personFactsOf } from "./sign-on-explanation.ts";
export type { PersonFacts, SchoolFacts } from "./sign-on-explanation.ts";
export { claimsAt, findSubject, findSubjectClaims, subjectOf } from "./subject-claims.ts";
export type { Subject, SubjectClaims } from "./subject-claims.ts";
export * from "./token.ts";
export { viewVersion } from "./view-version.ts";
export * from "./visibility.ts";
