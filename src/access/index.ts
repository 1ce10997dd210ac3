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
export {
  currentAgreement,
  findAgreementPdf,
  findDraft,
  listAgreements,
  type Agreement,
  type AgreementId,
} from "./agreement.ts";
export {
  acceptAgreement,
  chooseWithheld,
  findSchoolAgreement,
  holdForAgreement,
  refuseWithoutAgreement,
  withdrawAgreement,
  type SchoolAgreement,
} from "./agreement-acceptance.ts";
export { deleteDraft, publishDraft, writeDraft, writeDraftPdf, type DraftInput } from "./agreement-draft.ts";
export {
  findInForce,
  findReceipt,
  listAgreementsInForce,
  listInForce,
  listReceipts,
  type AgreementReceipt,
  type ReceiptId,
} from "./agreement-receipt.ts";
export { appNotFound, createApp, updateApp, type AppUpdate, type NewApp } from "./app.ts";
export { isSameName, refuseOwnName, refuseTakenLogo, refuseTakenName } from "./app-likeness.ts";
export { deleteLogo, findLogo, logoOf, logoPathOf, putLogo, type LogoName } from "./app-logo.ts";
export { findProfile, findProfiles, type AppProfile, type ProfileUpdate } from "./app-profile.ts";
export { checkCalledUri, type CalledUri } from "./redirect-uri.ts";
export { findInCatalogue, listAppsWithData, listCatalogue, type AppWithData, type CatalogueApp } from "./catalogue.ts";
export { makeAnnouncedSweep, sweepAnnounced, type EventProperty } from "./change-tracking/index.ts";
export { againAfterDeadlock, changeDirectory, previewChange } from "./change.ts";
export { authMethodOf, type TokenEndpointAuthMethod } from "./client-authentication.ts";
export {
  appWithSecretNotFound,
  endOldSecret,
  listSecretHashes,
  rotateClientSecret,
  secretMatches,
} from "./client-secret.ts";
export { deleteApp, type ForgetApp } from "./delete-app.ts";
export { appIsSuspended, resumeApp, suspendApp } from "./suspension.ts";
export { listDisclosures, type Disclosure } from "./disclosure/find.ts";
export { makeDisclosureSweep } from "./disclosure/sweep.ts";
export {
  appOf,
  findApp,
  listPublicRedirectUris,
  listAppsByName,
  lockApp,
  readApp,
  type App,
  type AppValue,
  type Registration,
} from "./find-app.ts";
export {
  acknowledgeErasure,
  erasedDays,
  erasureAskedAt,
  makeErasureSweep,
  type ErasureCause,
  type ErasureReason,
  type ErasureState,
} from "./erasure-record.ts";
export { countErasures, fromOverdueApps, type ErasurePosition } from "./erasure-counts.ts";
export { askingApps } from "./erasures.ts";
export {
  findGrant,
  listGrants,
  listGrantsByName,
  setGrant,
  setSignOn,
  setSync,
  setSyncedGroups,
  withdrawGrant,
  type GrantKey,
  type GrantSettings,
  type SignOnAudience,
} from "./grant.ts";
export { defaultIdTokenAlgorithm } from "./id-token-algorithm.ts";
export * from "./id-move/index.ts";
export { makeLastCalls, type LastCalls, type ReadKind } from "./last-calls.ts";
export { appIdOf, appIds, findAppPersonId, findPersonByAppId, idKindOf, isCutOver, listAppIds } from "./pairwise.ts";
export { subjectNow, type IdKind } from "./pairwise.ts";
export { makePurgeJob } from "./purge.ts";
export { refuseOthersSector } from "./sector.ts";
export { checkScopePlatform, scopeFromWire, scopeOfContract, scopeToWire } from "./scope.ts";
export { decideScopeRequest, listScopeRequests, requestScopes, type ScopeRequest } from "./scope-request.ts";
export { listSignInTimes, recordFirstSignIn, recordSignInsFrom, takeOverSignIn } from "./sign-in.ts";
export type { SignInTimes } from "./sign-in.ts";
export {
  decideSignOnRight,
  findSignOnRight,
  listSignOnRights,
  personWorksAsStaff,
  signOnFactsOf,
  type SignOnFacts,
  type SignOnRight,
} from "./sign-on-right.ts";
export * from "./attributes.ts";
export { listAppsOfGroups } from "./apps-of-groups.ts";
export { attributesOf, listAppsOfPerson, type AppOfPerson, type PersonAttribute } from "./apps-of-person.ts";
export { personFactsOf, type PersonFacts, type SchoolFacts } from "./sign-on-explanation.ts";
export { mergeGrants, separateGrants, type MergedApp } from "./merge-grants.ts";
export {
  attributesLacking,
  claimsAt,
  findSubject,
  subjectOf,
  type Subject,
  type SubjectClaims,
} from "./subject-claims.ts";
export * from "./token.ts";
export { findViewTimes, type ViewTimes } from "./view-times.ts";
export { versionOfSchool, viewVersion, viewVersionOfPerson } from "./view-version.ts";
export type { AppReads } from "./app-reads.ts";
export * from "./readable.ts";
export * from "./visibility.ts";
export { listWithheld, setWithheld, type Withheld } from "./withheld.ts";
export { heldFromPerson, schoolsOf, withheldItems, type PeopleReader, type WithheldItem } from "./withheld-sql.ts";
