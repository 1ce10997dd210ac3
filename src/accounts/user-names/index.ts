/*
 * user-names: makes user names by the rules of schools.
 *
 * Nouns:      base (a user name without its number), claim (the keyed hash of a user name, kept after the name is
 *             released).
 * Invariants: a user name is used once, enforced by a unique claim in the database; a trigger adds the claim for
 *             every other write; names of deleted people are kept as hashes only.
 * Never knows: where people come from.
 */
export { giveUserNames, giveUserNamesAtSchool } from "./give-at-school.ts";
export type { RosterNames } from "./give-at-school.ts";
export { friendlyWords } from "./words.ts";
