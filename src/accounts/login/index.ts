/*
 * login: checks user names and passwords.
 *
 * Nouns:      rate limit (counted failed tries at one account), bucket (the tries left to an address or a device),
 *             known device (a browser or an address from which the person signed in before).
 * Invariants: an unknown user name and a wrong password give the same result after the same work; a try is counted
 *             before the password is checked; tries elsewhere never slow down a person at a known device.
 */
export { makeCheckPassword, type PasskeyOffer, type PasswordCheck } from "./check-password.ts";
export { type NewCredential, foldUsername, writeCredential } from "./credential.ts";
export { hashBehind } from "./hash-aside.ts";
export { hashInTurn, hashPassword, longestPassword } from "./password.ts";
export { makePassword } from "./make-password.ts";
export { findGuessable } from "./guessable.ts";
export { longestTurnSeconds } from "./password-queue.ts";
export { bucketsOfAddress, countedAddress } from "./known-devices.ts";
export { findMayUsePassword, mayUsePasswordOf } from "./local-passwords.ts";
export { type Waits, type WrongPasswords, forgetTriesOf, waitsOf, wrongPasswordsOf } from "./rate-limits.ts";
export { sweepSignInTraces } from "./sweep.ts";
