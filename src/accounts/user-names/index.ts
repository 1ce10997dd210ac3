/*
 * user-names: makes user names by the rules of schools.
 *
 * Nouns:      base (a user name without its number), claim (the keyed hash of a user name, kept after its release).
 * Invariants: a user name is used once: a unique claim enforces it, and a trigger adds the claim for every other write.
 */
export { giveUserNames, giveUserNamesAtSchool } from "./give-at-school.ts";
