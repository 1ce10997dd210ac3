/*
 * pages: the shared parts of every server-rendered page.
 *
 * Nouns:      page (status, html, headers), layout, locale, translator, form target, asset.
 * Invariants: a page works without JavaScript and loads nothing from another origin; every value is escaped unless a
 *             template says otherwise; every page has the strict headers; both languages have the same texts.
 * Never knows: schools, apps, sign-on.
 */
export { addAsset, addPackageAsset, makePageAssets } from "./assets.ts";
export {
  renderPage,
  type Page,
  type PageContext,
  pageHeaders,
  renderFailurePage,
  type Failure,
  useBrand,
} from "./layout.ts";
export {
  addressInLanguage,
  keepPickedLocale,
  locales,
  nameWeekday,
  picksLocale,
  readLocale,
  type Locale,
} from "./locale.ts";
export {
  addTexts,
  emphasise,
  escapeHtml,
  makeTranslator,
  readTexts,
  type Texts,
  type Translate,
  makeTemplates,
  type Render,
} from "./texts.ts";
