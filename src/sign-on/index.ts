/*
 * sign-on: signs people in, and tells the apps that may know it who they are (OAuth 2.0, OpenID Connect).
 *
 * Nouns:      session (a browser signed in to the platform), interaction (the pages between an app's request and its
 *             response), consent, OAuth grant (everything issued from one authorization), unit of work (what one
 *             request wants written), signing key, login hint.
 * Invariants: tokens are stored as hashes; a code or refresh token is used up in the same transaction that stores
 *             what is issued for it; a revoked token is refused immediately in every process; addresses come only
 *             from ISSUER_URL; access decides at every sign-on and refresh whether the person may sign in; a key is
 *             published before it signs; people who have or need a second factor get no platform session and no token
 *             for the admin API by password alone; a session works only in the browser that it was made for.
 * Never knows: what the IDM API or Schulconnex returns; who sees which data.
 */
export {
  endSessionIn,
  forgetSchoolIn,
  listChosenSchools,
  listConsents,
  listSessions,
  withdrawConsentIn,
} from "./protocol/sessions.ts";
export type { ConsentOfPerson, PersonSession } from "./protocol/sessions.ts";
export { readSignOnData, type StoredEntry } from "./protocol/person-data.ts";
export { findSignInFacts, releaseSignInLimitsIn, type SignInFacts } from "./protocol/explain.ts";
export { isWithoutEffect } from "./protocol/scopes.ts";
export { checkSecrets, reEncryptSecrets, forgetLostSecrets, type LostSecrets } from "./protocol/keys/shared-secrets.ts";
export { makeNextKeys, rotateSigningKeysIn } from "./protocol/keys/rotation.ts";
export { describeSigningKeys } from "./protocol/keys/published-keys.ts";
export { checkSigningKeys } from "./protocol/keys/signing-keys.ts";
export { cookiesOfOnePath, signInPath } from "./forms/page-request.ts";
export { forgetApp, forgetClientTokens, forgetSignIns } from "./protocol/storage/artifact.ts";
export type { Count } from "./protocol/observe.ts";
import type { SignOn, SignOnOptions } from "./sign-on.ts";

/** Loads oidc-provider only where it is served: the command line uses this module without it. */
export const makeSignOn = async (options: SignOnOptions): Promise<SignOn> =>
  (await import("./sign-on.ts")).makeSignOn(options);
