/*
 * pages: the shared parts of every server-rendered page.
 *
 * Nouns:      page (status, html, headers), layout, locale, translator, form target, asset.
 * Invariants: a page works without JavaScript and loads nothing from another origin; every value is escaped unless a
 *             template says otherwise; every page has the strict headers; both languages have the same texts.
 * Never knows: schools, apps, sign-on.
 */
export { addAsset, addPackageAsset, makePageAssets } from "./assets.ts";
export { renderPage, pageHeaders, renderFailurePage, useBrand } from "./layout.ts";
export type { Page, PageContext, Failure } from "./layout.ts";
export { addressInLanguage, keepPickedLocale, locales, nameWeekday, picksLocale, readLocale } from "./locale.ts";
export type { Locale } from "./locale.ts";
export { addTexts, emphasise, escapeHtml, makeTranslator, readTexts, makeTemplates } from "./texts.ts";
export type { Texts, Translate, Render } from "./texts.ts";
