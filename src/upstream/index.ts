/*
 * upstream: signs people in with the login that their school has elsewhere. The service is a relying party there.
 *
 * Nouns:      connection (an OpenID Provider that a school registered this service with), profile (what is known of a
 *             kind of provider), rule (which claim equals which field of the roster), link (the account at the provider
 *             and its person), refusal (an account that was not let in, for the staff), round trip (a browser that is
 *             at the provider), upstream session (what a sign-in here is based on), set-up link (lets the IT contact of
 *             a school set up a connection), way in (how the people of a school reach their login).
 * Invariants: the roster decides who somebody is: a person is linked by a rule that exactly one active person of the
 *             school meets, never by an e-mail address; a round trip can be used once, for its connection, its browser
 *             and its destination; no HTTP call inside a transaction, none that follows a redirect, none without a
 *             limit of time and size; ending an upstream session ends at once the sessions that it opened here;
 *             secrets and claims are stored encrypted.
 * Never knows: oidc-provider, pages, requests of ours.
 */
export { createConnectionIn, deleteConnectionIn, updateConnectionIn } from "./change-connection.ts";
export { forgetLostUpstreamSecrets, reEncryptUpstreamSecrets } from "./ready-connection.ts";
export { addressesOf, findConnection, listConnections } from "./connection.ts";
export type { Connection, ConnectionUpdate, NewConnection, Normalisation } from "./connection.ts";
export {
  accountRefusals,
  connectionFailures,
  isAccountRefusal,
  isConnectionFailure,
  passingFailures,
  type FailureCode,
  type UpstreamFailure,
} from "./failures.ts";
export { acceptGuests } from "./guest.ts";
export type { ConnectionId, RefusalId, SetUpLinkId, UpstreamSessionId } from "./ids.ts";
export { linkByHandIn, listLinks, unlinkIn, type Link } from "./links.ts";
export { previewRule } from "./preview.ts";
export { countKeys } from "./roster.ts";
export { profiles } from "./profiles.ts";
export { dismissRefusalIn, listRefusals } from "./refusals.ts";
export {
  allowsLocalPasswords,
  closeEmergencyIn,
  findSchoolByLinkName,
  findSchoolsByWords,
  findWayInSettings,
  listWaysIn,
  openEmergencyIn,
  putWayInIn,
  schoolLoginsOf,
} from "./way-in.ts";
export type { FoundSchool, SchoolLogin, WayIn } from "./way-in.ts";
export {
  closeSetUpLinkIn,
  createSetUpLinkIn,
  findSetUpLink,
  findTestedSignIn,
  listSetUpLinks,
  openSetUpLink,
  type SetUpLink,
} from "./set-up-links.ts";
export type { TestedSignIn } from "./test-sign-in.ts";
export { makeUpstream } from "./upstream.ts";
export type { Begun, Destination, Finished, SignedInUpstream, Start, Upstream } from "./upstream.ts";
