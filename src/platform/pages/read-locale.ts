import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { chooseLocale, locales, type Locale } from "./locale.ts";

const cookie = "_lang";

/**
 * Chooses the language of the page that answers a request; `?lang=` is what the person picks, kept by
 * `keepPickedLocale`.
 */
export function readLocale(req: IncomingMessage, uiLocales?: string): Locale {
  const kept = new RegExp(`(?:^|; *)${cookie}=([^;]*)`).exec(req.headers.cookie ?? "")?.[1];
  return chooseLocale({ picked: readPick(req) ?? kept, uiLocales, acceptLanguage: req.headers["accept-language"] });
}

/** Lets the browser keep what the person picked, until it is closed: computers at school are shared. */
export const keepPickedLocale: RequestHandler = (req, res, next) => {
  const pick = readPick(req);
  if (pick !== undefined) res.cookie(cookie, pick, { httpOnly: true, sameSite: "lax", secure: req.secure });
  next();
};

/**
 * Makes the address of a page, as it was asked for, in another language.
 *
 * Shape: a path of this origin, whatever the page was asked by.
 */
export const addressInLanguage =
  (url: string) =>
  (locale: Locale): string => {
    const [path = "", query] = url.split("?");
    const parameters = new URLSearchParams(query);
    parameters.set("lang", locale);
    return `/${path.replace(/^[\\/]+/, "")}?${parameters.toString()}`;
  };

/** Whether a request picks a language, which `keepPickedLocale` then keeps. */
export const picksLocale = (req: IncomingMessage): boolean => readPick(req) !== undefined;

function readPick(req: IncomingMessage): Locale | undefined {
  const query = req.url?.split("?")[1];
  if (!query?.includes("lang=")) return undefined;
  const pick = new URLSearchParams(query).get("lang");
  return locales.find((locale) => locale === pick);
}
