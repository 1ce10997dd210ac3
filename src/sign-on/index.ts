/*
 * sign-on: finds out who a person is and tells the apps that may know it (OAuth 2.0, OpenID Connect).
 *
 * Nouns:      session (a browser signed in to the platform), interaction (the pages between an app's request and
 *             its answer), consent, authorization code, access, refresh and ID token, OAuth grant (everything issued
 *             from one authorization), unit of work (what one request wants written), signing key, login hint,
 *             logout notice, second factor (what a person proves beside the password), recovery code.
 * Invariants: tokens are stored as hashes; a code or refresh token is used up once, together with what was issued
 *             for it; a revoked token is refused at once in every process; a new password, a block, a deletion and a
 *             sign-out by staff void earlier sign-ins, the end of a login card those that it opened; addresses come
 *             from ISSUER_URL alone; access decides at every sign-on and refresh whether the person may sign in; a key
 *             is published before it signs; who has a second factor, or must have one, gets no session of the platform
 *             and no token for the admin API by the password alone;
 *             a session is of use in the browser that it was made for only.
 * Never knows: what the IDM API or Schulconnex answer; who sees which data.
 */
export { isCardGrade } from "./cards/allowed.ts";
export { createCardIn, listCards, revokeCardsIn } from "./cards/cards.ts";
export type { CardId, ListedCard } from "./cards/cards.ts";
export { findCardPlaces, type CardPlace } from "./cards/places.ts";
export type { MadeCard, MakeCard } from "./cards/make-card.ts";
export { keepPrint, printUnknown, takePrint } from "./cards/print.ts";
export { lockCardSettings, readCardSettings, writeCardSettings } from "./cards/settings.ts";
export type { CardSecondStep, CardSettings } from "./cards/settings.ts";
export { endSessionIn, listConsents, listSessions, withdrawConsentIn } from "./sessions.ts";
export type { ConsentOfPerson, PersonSession } from "./sessions.ts";
export { requestPassword, requestPasswordIn } from "./password-requests.ts";
export { withdrawPasswordRequests, withdrawPasswordRequestsIn } from "./password-requests.ts";
export { recordAtHome } from "./record-at-home.ts";
export { readSignOnData } from "./person-data.ts";
export type { SignOnData, StoredEntry } from "./person-data.ts";
export { findSignInFacts, releaseSignInLimitsIn } from "./explain.ts";
export type { SignInFacts } from "./explain.ts";
export { findLogin, findPersonIdOf, listUserNames } from "./find-login.ts";
export type { LoginState, UserName } from "./find-login.ts";
export { foldUsername, hashInTurn, hashPassword, makePassword } from "./login/index.ts";
export { checkSecrets } from "./keys/shared-secrets.ts";
export { reEncryptSecrets } from "./keys/re-encrypt.ts";
export { forgetLostSecrets } from "./keys/replace-lost.ts";
export type { LostSecrets } from "./keys/replace-lost.ts";
export { makePasswords } from "./make-passwords.ts";
export type { MadeLogin, PasswordsFor } from "./make-passwords.ts";
export { makeNextKeys, rotateSigningKeys, rotateSigningKeysIn } from "./keys/rotation.ts";
export { checkSigningKeys, describeSigningKeys } from "./keys/signing-keys.ts";
export type { DescribedKey } from "./keys/signing-keys.ts";
export { cookiesOfOnePath } from "./cookies-of-one-path.ts";
export { lockPersonSignIn } from "./end-sign-ins.ts";
export {
  blockPerson,
  revokeSecondFactors,
  setCredential,
  setLogin,
  signOutPerson,
  unblockPerson,
} from "./person-sign-in.ts";
export { blockPersonIn, setLoginIn, signOutPersonIn, unblockPersonIn } from "./person-sign-in.ts";
export { findSignInSettings, findSignInSettingsOf, lockSignInSettings, putSignInSettings } from "./sign-in-settings.ts";
export type { PasswordKind, SignInSettings, UserNameRule } from "./sign-in-settings.ts";
export { signInPath } from "./platform-session.ts";
export { listSecondFactors, revokeSecondFactorsIn, type SecondFactor } from "./second-factor/records.ts";
export { forgetApp, forgetClientTokens } from "./storage/forget-app.ts";
export { forgetSignIns } from "./storage/forget-sign-ins.ts";
export { forgetPerson } from "./storage/forget-person.ts";
export type { SignedIn } from "./signed-in.ts";
export { giveUserNames, giveUserNamesAtSchool } from "./user-names/index.ts";
export { createStaffPerson, makeStaffPassword, type NewStaffPerson } from "./staff-person.ts";
export { makeSignOn } from "./sign-on.ts";
export type { Count } from "./observe.ts";
export type { SignOn, SignOnOptions } from "./sign-on.ts";
