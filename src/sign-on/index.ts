/*
 * sign-on: who somebody is, told to the apps that may know it (OAuth 2.0, OpenID Connect).
 *
 * Nouns:      session (a browser signed in to the platform), interaction (what a person is asked in between), consent,
 *             authorization code, access, refresh and ID token, grant (all that one authorization gave), signing key,
 *             login hint, logout notice.
 * Invariants: tokens are stored as hashes only and used up once, together with what they gave; revoked is refused at
 *             once in every process; a new password, a block and a sign-out by staff void what was signed in before them; addresses come from ISSUER_URL alone; whether somebody may sign in is asked of
 *             access at every sign-on and refresh; no key that signs was unpublished before.
 * Never knows: what the IDM API or Schulconnex answer; who sees which data.
 */
export { findLogin, findPersonIdOf } from "./find-login.ts";
export type { LoginState } from "./find-login.ts";
export { foldUsername, hashPassword } from "./login/index.ts";
export { reEncryptSecrets } from "./keys/re-encrypt.ts";
export { rotateSigningKeys } from "./keys/rotation.ts";
export { checkSigningKeys } from "./keys/signing-keys.ts";
export { blockPerson, setCredential, setLogin, signOutPerson, unblockPerson } from "./person-sign-in.ts";
export { signInPath } from "./platform-sign-in.ts";
export { forgetApp } from "./storage/forget-app.ts";
export { forgetPerson } from "./storage/forget-person.ts";
export { makeSignOn } from "./sign-on.ts";
export type { SignOn, SignOnOptions } from "./sign-on.ts";
