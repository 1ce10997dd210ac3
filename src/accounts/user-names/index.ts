/*
 * user-names: makes user names by the rules of schools.
 *
 * Nouns: base (a user name without its number), claim (the keyed hash of a user name, which stays when
 *   the name is given up).
 * Invariants: a user name is given once, by a unique claim in the database; a trigger claims what is written any other
 *   way; names of people who are gone stay as hashes alone.
 * Must never know: where people come from.
 */
export { giveUserNames, giveUserNamesAtSchool } from "./give-at-school.ts";
export type { RosterNames } from "./give-at-school.ts";
export { friendlyWords } from "./words.ts";
