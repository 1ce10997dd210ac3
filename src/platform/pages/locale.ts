import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";

export const locales = ["de", "en"] as const;

export type Locale = (typeof locales)[number];

const fallback: Locale = "de";

/** The person's pick, then `ui_locales` (OpenID Connect Core), then Accept-Language. */
export function chooseLocale(wishes: {
  picked?: string | undefined;
  uiLocales?: string | undefined;
  acceptLanguage?: string | undefined;
}): Locale {
  const wanted = [
    wishes.picked ?? "",
    ...(wishes.uiLocales ?? "").split(" "),
    ...byPreference(wishes.acceptLanguage ?? ""),
  ];
  for (const tag of wanted) {
    const language = tag.toLowerCase().split("-")[0];
    const match = locales.find((locale) => locale === language);
    if (match !== undefined) return match;
  }
  return fallback;
}

function byPreference(header: string): string[] {
  return header
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().split(";");
      const quality = parameters.map((parameter) => /^\s*q=([\d.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean);
      return { tag: tag.trim(), quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter((entry) => entry.quality > 0)
    .sort((left, right) => right.quality - left.quality)
    .map((entry) => entry.tag);
}

/** `day` counts from 1, Monday. */
export const nameWeekday = (day: number, locale: Locale): string =>
  // 4 January 2026 is a Sunday.
  new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" }).format(Date.UTC(2026, 0, 4 + day));

const cookie = "_lang";

/** `?lang=` is the person's pick, which `keepPickedLocale` remembers. */
export function readLocale(req: IncomingMessage, uiLocales?: string): Locale {
  const chosen = new RegExp(`(?:^|; *)${cookie}=([^;]*)`).exec(req.headers.cookie ?? "")?.[1];
  return chooseLocale({ picked: readPick(req) ?? chosen, uiLocales, acceptLanguage: req.headers["accept-language"] });
}

/** Uses a session cookie, because school computers are shared. */
export const keepPickedLocale: RequestHandler = (req, res, next) => {
  const pick = readPick(req);
  if (pick !== undefined) res.cookie(cookie, pick, { httpOnly: true, sameSite: "lax", secure: req.secure });
  next();
};

export const addressInLanguage = (url: string) => (locale: Locale) => {
  const [path = "", query] = url.split("?");
  const parameters = new URLSearchParams(query);
  parameters.set("lang", locale);
  return `/${path.replace(/^[\\/]+/, "")}?${parameters.toString()}`;
};

export const picksLocale = (req: IncomingMessage): boolean => readPick(req) !== undefined;

function readPick(req: IncomingMessage): Locale | undefined {
  const query = req.url?.split("?")[1];
  if (!query?.includes("lang=")) return undefined;
  const pick = new URLSearchParams(query).get("lang");
  return locales.find((locale) => locale === pick);
}
