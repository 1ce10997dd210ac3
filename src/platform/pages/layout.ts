import { join } from "node:path";
import { assetPaths } from "./assets.ts";
import { brandOfPages } from "./brand.ts";
import { pageHeaders } from "./csp.ts";
import { locales, type Locale } from "./locale.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { makeTemplates } from "./templates.ts";
import { makeTranslator } from "./texts.ts";

export type Page = { status: number; html: string; headers: Record<string, string> };

export type PageContext = {
  locale: Locale;
  languageUrl?: ((locale: Locale) => string) | null;
  formTargets?: readonly string[];
};

export const render = makeTemplates(join(import.meta.dirname, "templates"));
export const translator = makeTranslator({ de: german, en: english });

export function renderPage(
  content: {
    title: string;
    body: string;
    status?: number;
    width?: "narrow" | "wide" | "page";
    headers?: Record<string, string>;
    scripts?: readonly string[];
    stylesheets?: readonly string[];
    navigation?: string;
  },
  context: PageContext,
): Page {
  const { languageUrl } = context;
  const { scripts = [] } = content;
  const html = render("layout", {
    ...content,
    width: content.width ?? "narrow",
    locale: context.locale,
    t: translator(context.locale),
    brand: brandOfPages(),
    assets: assetPaths,
    scripts,
    stylesheets: content.stylesheets ?? [],
    navigation: content.navigation ?? "",
    languages: languageUrl
      ? locales.map((locale) => ({ locale, url: languageUrl(locale), name: translator(locale)("language.own") }))
      : [],
  });
  return {
    status: content.status ?? 200,
    html,
    headers: {
      ...pageHeaders(context.formTargets, scripts.length > 0),
      "Content-Language": context.locale,
      ...content.headers,
    },
  };
}
