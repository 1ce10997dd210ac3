import { makeTranslator, type Locale, type Translate } from "../../platform/pages/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

export type CardLanguage = Locale;

/** The texts of cards, letters to parents and lists of credentials. */
export const cardTexts = makeTranslator({ de: german, en: english });

/** Schools call a class `7c` or `Klasse 7c`. */
export const bareClass = (name: string): string => name.replace(/^(klasse|class)\s+(?=\S)/i, "");

export const nameClass = (t: Translate, name: string): string => `${t("class")} ${bareClass(name)}`;

type Value = "name" | "class" | "school" | "address" | "username";

const values = new Map<string, Value>([
  ...(["name", "class", "school", "address", "username"] as const).map((value) => [value, value] as const),
  ["klasse", "class"],
  ["schule", "school"],
  ["adresse", "address"],
  ["benutzername", "username"],
]);

const placeholder = /\{([^{}]*)\}/g;
const valueOf = (name: string): Value | undefined => values.get(name.trim().toLowerCase());

export const listUnknownPlaceholders = (letter: string): string[] =>
  [...letter.matchAll(placeholder)].flatMap(([whole, name = ""]) => (valueOf(name) === undefined ? [whole] : []));

export const fillLetter = (letter: string, texts: Record<Value, string>): string =>
  letter.replace(placeholder, (whole, name: string) => {
    const value = valueOf(name);
    return value === undefined ? whole : texts[value];
  });
