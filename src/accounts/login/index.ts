/*
 * login: whether a user name and a password belong to a person.
 *
 * Nouns: credential, rate limit (failed tries at one account, counted), bucket (the tries that an address or a device
 *   has left), known device (a browser or an address from which the person signed in before).
 * Invariants: an unknown user name and a wrong password give the same answer after the same work, known device or not;
 *   a try is counted before the password is checked, so parallel tries cannot slip through; what strangers do elsewhere
 *   never slows down a person at a known device; limits and buckets are in PostgreSQL, shared by all processes.
 * Must never know: apps, sessions, pages.
 */
export { makeCheckPassword, type PasswordCheck } from "./check-password.ts";
export { checkPasswordLength, writeCredential } from "./credential.ts";
export { hashInTurn } from "./hash-in-turn.ts";
export { makePassword } from "./make-password.ts";
export { hashPassword, longestPassword } from "./password.ts";
export { longestTurnSeconds } from "./password-queue.ts";
export { countedAddress, countedSite } from "./known-devices.ts";
export { foldUsername } from "./username.ts";
export { forgetTriesOf, waitsOf, type Waits } from "./rate-limits.ts";
export { sweepSignInTraces } from "./sweep.ts";
