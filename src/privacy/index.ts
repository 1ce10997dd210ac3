/*
 * privacy: what data about people the service keeps and passes on, in the words of a data protection officer.
 *
 * Nouns:      category (of people, or of data about them), activity (what the service does with data for a school),
 *             period (how long something is kept), measure (how data is protected), stored table (its columns by
 *             category).
 * Invariants: each has its words once, in German and English: the record of processing and the data sheet say the same;
 *             every column of prisma/schema has its category in a comment, or is none about a person.
 * Never knows: schools, apps and people themselves, pages, HTTP.
 */
export { activities, type Activity } from "./activities.ts";
export { keptFor, storedTables } from "./kept-for.ts";
export { periodText, retentionText, variables, type Days, type PeriodCode } from "./periods.ts";
export { dataCategories, measures, peopleCategories, retentionWords } from "./words.ts";
export type { DataCategory, PeopleCategory, Words } from "./words.ts";
