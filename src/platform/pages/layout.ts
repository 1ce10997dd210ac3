import { join } from "node:path";
import { assetPaths, addAsset, addContent } from "./assets.ts";
import { locales, type Locale } from "./locale.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { makeTranslator, makeTemplates } from "./texts.ts";
import { shortCodeOf } from "../crypto/ids.ts";

export type Page = { status: number; html: string; headers: Record<string, string> };

export type PageContext = {
  locale: Locale;
  languageUrl?: ((locale: Locale) => string) | null;
  formTargets?: readonly string[];
};

const render = makeTemplates(join(import.meta.dirname, "templates"));
const translator = makeTranslator({ de: german, en: english });

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
    brand: brand,
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

/** Browsers apply `form-action` to redirects after a form too: `formTargets` are the schemes that they may have. */
export function pageHeaders(formTargets: readonly string[] = [], scripts = false): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ...(scripts ? ["script-src 'self'", "connect-src 'self'"] : []),
    `form-action ${["'self'", ...new Set(formTargets)].join(" ")}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy.join("; "),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
  };
}

export type Failure = "not_found" | "invalid" | "unavailable" | "bug";

export function renderFailurePage(
  { failure, status, requestId }: { failure: Failure; status: number; requestId: string | undefined },
  context: PageContext,
): Page {
  const t = translator(context.locale);
  const body = render("failure", { failure, requestId, code: requestId && shortCodeOf(requestId), t });
  return renderPage({ title: t(`failure.title.${failure}`), body, status }, context);
}

type Brand = {
  name: string;
  logoFile: string | null;
  colour: string | null;
  links: Readonly<Record<"legalNotice" | "privacy" | "accessibility" | "help", string | null>>;
};

type ShownBrand = { name: string; logo: string; style: string | null; links: [name: string, url: string][] };

let brand: ShownBrand = { name: "Schultor", logo: assetPaths.logo, style: null, links: [] };

export function useBrand({ name, logoFile, colour, links }: Brand): void {
  brand = {
    name,
    logo: logoFile === null ? assetPaths.logo : addAsset(logoFile),
    style: colour === null ? null : addContent("brand", ".css", Buffer.from(colours(colour))),
    links: Object.entries(links).flatMap(([link, url]) => (url === null ? [] : [[link, url]])),
  };
}

const colours = (colour: string): string => `:root {
  --gate: ${colour};
  --gate-deep: color-mix(in srgb, ${colour} 75%, black);
  --tint: color-mix(in srgb, ${colour} 10%, white);
  --band: ${colour};
}
@media (prefers-color-scheme: dark) {
  :root {
    --gate: color-mix(in srgb, ${colour} 40%, white);
    --gate-deep: color-mix(in srgb, ${colour} 25%, white);
    --tint: color-mix(in srgb, ${colour} 25%, #16272a);
    --band: color-mix(in srgb, ${colour} 60%, black);
  }
}
`;
