/*
 * login: whether a user name and a password belong to a person.
 *
 * Nouns: credential, brake (failed tries at one account, counted), bucket (the tries that an address or a device has
 *   left), place (a browser or an address where the person signed in before).
 * Invariants: an unknown user name and a wrong password give the same answer after the same work, wherever the person
 *   signed in before; a try is counted before the password is looked at, so tries at once cannot slip through; what a
 *   stranger does elsewhere never slows a person at a place they know; brakes and buckets live in PostgreSQL, shared by all
 *   processes.
 * Must never know: apps, sessions, pages.
 */
export { makeCheckPassword, type PasswordCheck } from "./check-password.ts";
export { checkPasswordLength, writeCredential } from "./credential.ts";
export { hashPassword } from "./password.ts";
export { countedAddress, countedSite } from "./places.ts";
export { foldUsername } from "./username.ts";
export { sweepSignInTraces } from "./sweep.ts";
