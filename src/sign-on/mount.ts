import express, { type NextFunction, type Request, type Response, Router } from "express";
import type { Provider } from "oidc-provider";
import { readLocale } from "../platform/pages/index.ts";
import { renderErrorPage } from "./pages/index.ts";

const libraryPaths = [
  "/oauth2/auth",
  "/oauth2/auth/:uid",
  "/oauth2/token",
  "/oauth2/userinfo",
  "/oauth2/revoke",
  "/oauth2/introspect",
  "/oauth2/sessions/logout",
  "/oauth2/sessions/logout/confirm",
  "/oauth2/sessions/logout/success",
  "/.well-known/openid-configuration",
  "/.well-known/jwks.json",
];

/** Puts the provider behind its paths; `provider` answers the one of now. */
export function makeMount({ issuerUrl, provider }: { issuerUrl: string; provider(): Provider }): Router {
  const router = Router();
  const callbacks = new WeakMap<Provider, (req: Request, res: Response) => unknown>();
  const answer = (req: Request, res: Response): unknown => {
    const current = provider();
    let callback = callbacks.get(current);
    if (!callback) callbacks.set(current, (callback = current.callback()));
    return callback(req, res);
  };

  router.use([...libraryPaths, "/interaction", "/sign-in"], speakAsIssuer(issuerUrl));
  router.post(["/oauth2/auth", "/oauth2/sessions/logout"], express.urlencoded({ extended: false, limit: "16kb" }), askAsGet);
  router.all("/oauth2/token", onlyPost);
  router.get("/oauth2/sessions/logout", refuseNul);
  router.all(libraryPaths, answer);
  return router;
}

/** Lets every request look as if it had come to ISSUER_URL: the Host and X-Forwarded headers of a request count for nothing. */
function speakAsIssuer(issuerUrl: string) {
  const { host, protocol } = new URL(issuerUrl);
  return (req: Request, _res: Response, next: NextFunction): void => {
    req.headers.host = host;
    req.headers["x-forwarded-proto"] = protocol.slice(0, -1);
    delete req.headers["x-forwarded-host"];
    delete req.headers[":authority"];
    next();
  };
}

// The same request, asked in the way that carries the session's cookie across sites.
function askAsGet(req: Request, res: Response): void {
  const fields = new URLSearchParams(Object.entries((req.body ?? {}) as Record<string, string>));
  for (const [name, value] of new URL(req.originalUrl, "http://localhost").searchParams) fields.append(name, value);
  res.redirect(303, `${req.path}?${fields.toString()}`);
}

// What a logout carries is kept with the session, and PostgreSQL takes no NUL character.
function refuseNul(req: Request, res: Response, next: NextFunction): void {
  if (!req.url.includes("%00")) return next();
  const requestId = (res.locals["requestId"] as string | undefined) ?? null;
  const { status, headers, html } = renderErrorPage({ status: 400, reason: "invalid_request", requestId }, { locale: readLocale(req) });
  res.status(status).set(headers).send(html);
}

function onlyPost(req: Request, res: Response, next: NextFunction): void {
  if (req.method === "POST" || req.method === "OPTIONS") return next();
  res.status(400).set({ "Cache-Control": "no-store" }).json({ error: "invalid_request", error_description: "the token endpoint takes POST" });
}
