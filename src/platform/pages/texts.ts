import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInstance } from "i18next";
import type { Locale } from "./locale.ts";
import { Eta } from "eta";

export interface Texts {
  [key: string]: string | Texts;
}

export type Translate = (key: string, values?: Record<string, string | number>) => string;

/** Reads `locales/` of a folder. */
export function readTexts(folder: string): Record<Locale, Texts> {
  const read = (locale: Locale) => JSON.parse(readFileSync(join(folder, "locales", `${locale}.json`), "utf8")) as Texts;
  return { de: read("de"), en: read("en") };
}

/** Merges texts at every depth, so that an area can add problems to those of the frame. */
export const addTexts = (texts: Texts, added: Texts): Texts =>
  Object.entries(added).reduce<Texts>((all, [key, text]) => {
    const held = all[key];
    return { ...all, [key]: typeof held === "object" && typeof text === "object" ? addTexts(held, text) : text };
  }, texts);

/** A missing text throws, so that no page shows a key. */
export function makeTranslator(texts: Record<Locale, Texts>): (locale: Locale) => Translate {
  const catalogue = createInstance({
    initAsync: false,
    lng: "de",
    fallbackLng: false,
    nsSeparator: false,
    resources: { de: { translation: texts.de }, en: { translation: texts.en } },
    interpolation: { escapeValue: false, skipOnVariables: true },
    returnNull: false,
  });
  void catalogue.init();
  const translate = (locale: Locale, key: string, values?: Record<string, string | number>): string => {
    const text = catalogue.t(key, { ...values, lng: locale });
    // i18next returns the key of a missing text.
    if (text === key) throw new Error(`no text ${key} in ${locale}`);
    return text;
  };
  // A page has about 30 texts without values, of 10 µs each.
  const plain: Record<Locale, Map<string, string>> = { de: new Map(), en: new Map() };
  return (locale) => (key, values) => {
    if (values !== undefined) return translate(locale, key, values);
    const text = plain[locale].get(key) ?? translate(locale, key);
    plain[locale].set(key, text);
    return text;
  };
}

export function emphasise(translate: Translate, key: string, values: Record<string, string>): string {
  const marked = Object.fromEntries(Object.keys(values).map((name, index) => [name, `\u{e000}${index}\u{e001}`]));
  const strong = Object.values(values).map((value) => `<strong>${escapeHtml(value)}</strong>`);
  return escapeHtml(translate(key, marked)).replace(
    /\u{e000}(\d+)\u{e001}/gu,
    (_mark, index) => strong[Number(index)] ?? "",
  );
}

export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** `<%= %>` escapes, `<%~ %>` does not. */
export type Render = (name: string, data: object) => string;

export function makeTemplates(folder: string): Render {
  const eta = new Eta({ autoEscape: true, cache: true, views: folder });
  const known = new Set<string>();
  return (name, data) => {
    if (!known.has(name)) {
      eta.loadTemplate(`@${name}`, readFileSync(join(folder, `${name}.eta`), "utf8"));
      known.add(name);
    }
    return eta.render(`@${name}`, data);
  };
}
