import words from "./words.json" with { type: "json" };

/** A text in both languages. */
export type Words = { readonly de: string; readonly en: string };

/**
 * What the service says about data: categories of people and of data (in the order of the pages: the data that an app
 * can get comes first), activities, measures that the service itself takes (Art. 32 GDPR), and periods.
 */
export const { peopleCategories, dataCategories, measures, retention: retentionWords } = words;

export type PeopleCategory = keyof typeof peopleCategories;
export type DataCategory = keyof typeof dataCategories;
