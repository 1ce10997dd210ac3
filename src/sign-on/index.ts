/*
 * sign-on: finds out who a person is and tells the apps that may know it (OAuth 2.0, OpenID Connect).
 *
 * Nouns:      session (a browser signed in to the platform), interaction (the pages between an app's request and
 *             its answer), consent, authorization code, access, refresh and ID token, OAuth grant (everything issued
 *             from one authorization), unit of work (what one request wants written), signing key, login hint,
 *             logout notice.
 * Invariants: tokens are stored as hashes; a code or refresh token is used up once, together with what was issued
 *             for it; a revoked token is refused at once in every process; a new password, a block and a sign-out by
 *             staff void earlier sign-ins; addresses come from ISSUER_URL alone; access decides at every sign-on and
 *             refresh whether the person may sign in; a key is published before it signs.
 * Never knows: what the IDM API or Schulconnex answer; who sees which data.
 */
export { findLogin, findPersonIdOf, listLoginHolders } from "./find-login.ts";
export type { LoginState } from "./find-login.ts";
export { foldUsername, hashPassword } from "./login/index.ts";
export { reEncryptSecrets } from "./keys/re-encrypt.ts";
export { rotateSigningKeys } from "./keys/rotation.ts";
export { checkSigningKeys } from "./keys/signing-keys.ts";
export { lockPersonSignIn } from "./end-sign-ins.ts";
export { blockPerson, setCredential, setLogin, signOutPerson, unblockPerson } from "./person-sign-in.ts";
export { blockPersonIn, setLoginIn, signOutPersonIn, unblockPersonIn } from "./person-sign-in.ts";
export { signInPath } from "./platform-sign-in.ts";
export { forgetApp } from "./storage/forget-app.ts";
export { forgetPerson } from "./storage/forget-person.ts";
export { makeSignOn } from "./sign-on.ts";
export type { SignOn, SignOnOptions } from "./sign-on.ts";
