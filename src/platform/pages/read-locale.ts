import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { chooseLocale, locales, type Locale } from "./locale.ts";

const cookie = "_lang";

/** `?lang=` is the person's pick, which `keepPickedLocale` remembers. */
export function readLocale(req: IncomingMessage, uiLocales?: string): Locale {
  const kept = new RegExp(`(?:^|; *)${cookie}=([^;]*)`).exec(req.headers.cookie ?? "")?.[1];
  return chooseLocale({ picked: readPick(req) ?? kept, uiLocales, acceptLanguage: req.headers["accept-language"] });
}

/** Uses a session cookie, because school computers are shared. */
export const keepPickedLocale: RequestHandler = (req, res, next) => {
  const pick = readPick(req);
  if (pick !== undefined) res.cookie(cookie, pick, { httpOnly: true, sameSite: "lax", secure: req.secure });
  next();
};

export const addressInLanguage =
  (url: string) =>
  (locale: Locale): string => {
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
