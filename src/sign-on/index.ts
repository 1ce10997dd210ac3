/*
 * sign-on: who somebody is, told to the apps that may know it (OAuth 2.0, OpenID Connect).
 *
 * Nouns:      session (a browser signed in to the platform), interaction (what a person is asked in between), consent,
 *             authorization code, access, refresh and ID token, grant (all that one authorization gave), signing key,
 *             login hint, logout notice.
 * Invariants: tokens are stored as hashes only and used up once, together with what they gave; revoked is refused at
 *             once in every process; addresses come from ISSUER_URL alone; whether somebody may sign in is asked of
 *             access at every sign-on and refresh; no key that signs was unpublished before.
 * Never knows: what the IDM API or Schulconnex answer; who sees which data.
 */
export { foldUsername, hashPassword, setCredential } from "./login/index.ts";
export { reEncryptSecrets } from "./keys/re-encrypt.ts";
export { rotateSigningKeys } from "./keys/rotation.ts";
export { checkSigningKeys } from "./keys/signing-keys.ts";
export { signInPath } from "./platform-sign-in.ts";
export { forgetPerson } from "./storage/forget-person.ts";
export { makeSignOn } from "./sign-on.ts";
export type { SignOn, SignOnOptions } from "./sign-on.ts";
