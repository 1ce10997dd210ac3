import express, { type Request, type RequestHandler, type Response } from "express";
import type { Page } from "../../platform/pages/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";

/** A request to a page of sign-on, with what its handler needs. */
export type PageRequest = { deps: InteractionDeps; req: Request; res: Response };

export const onPage =
  (deps: InteractionDeps, handle: (request: PageRequest) => void | Promise<void>): RequestHandler =>
  (req, res) =>
    handle({ deps, req, res });

export const readForm = express.urlencoded({ extended: false, limit: "16kb" });
/** For forms with the response of a passkey. */
export const readLargeForm = express.urlencoded({ extended: false, limit: "32kb" });

export function fieldOf({ req }: PageRequest, name: string): string {
  const body = req.body as Record<string, unknown> | undefined;
  const value = body?.[name];
  return typeof value === "string" ? value : "";
}

export function sendPage({ res }: PageRequest, page: Page): void {
  res.status(page.status).set(page.headers).send(page.html);
}

export const redirect = ({ res }: PageRequest, path: string): void => res.redirect(303, path);

export const requestIdOf = ({ res }: PageRequest): string | undefined => res.locals["requestId"] as string | undefined;

export const providerContextOf = ({ deps, req, res }: PageRequest) => deps.provider().createContext(req, res);

export const cookiesOf = (request: PageRequest) => providerContextOf(request).cookies;

export const sessionOf = (request: PageRequest) => request.deps.provider().Session.get(providerContextOf(request));

/** Without `seconds` the cookie ends with the browser. */
type CookieOptions = { signed: boolean; path?: string; seconds?: number | undefined };

/** Sets a cookie of a page; null deletes it. */
export function setCookie(
  request: PageRequest,
  name: string,
  value: string | null,
  { signed, path, seconds }: CookieOptions,
): void {
  const lasting = { ...(path !== undefined && { path }), ...(seconds !== undefined && { maxAge: seconds * 1000 }) };
  cookiesOf(request).set(name, value, { httpOnly: true, sameSite: "lax", signed, ...lasting });
}

export const readCookie = (request: PageRequest, name: string, { signed }: { signed: boolean }): string | null =>
  cookiesOf(request).get(name, { signed }) ?? null;
