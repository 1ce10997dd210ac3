/*
 * user-names: makes user names by the rules of schools.
 *
 * Nouns:      base (a user name without its number), claim (the keyed hash of a user name, kept for a year after the
 *             deletion of its person).
 * Invariants: a user name has one person: a unique claim enforces it, and a trigger adds it for every other write.
 */
export { giveUserNames, giveUserNamesAtSchool } from "./give-at-school.ts";
