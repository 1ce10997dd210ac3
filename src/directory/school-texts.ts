import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

/** What federal states, by ISO 3166-2, and schooling levels are called on pages. */
export const schoolTexts = { de: german, en: english };
