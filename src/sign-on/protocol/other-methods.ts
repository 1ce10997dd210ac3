import type { NextFunction, Request, Response } from "express";
import type { SendRefusal } from "./refusal.ts";

const reading = "GET, HEAD";

const allowedAt: Record<string, string> = {
  "/oauth2/auth": "GET, HEAD, POST",
  "/oauth2/token": "POST",
  "/oauth2/userinfo": "GET, HEAD, POST",
  "/oauth2/revoke": "POST",
  "/oauth2/introspect": "POST",
  "/oauth2/sessions/logout": "GET, HEAD, POST",
  "/oauth2/sessions/logout/confirm": "POST",
};

const openToScripts = /^\/(oauth2\/(token|userinfo|revoke|introspect)|\.well-known\/.*)$/;

const seenByPeople = /^\/oauth2\/(auth|sessions)\//;

/** The provider would answer other methods as an unknown address. Source: RFC 9110 section 15.5.6. */
export const makeRefuseOtherMethods =
  (sendRefusal: SendRefusal) =>
  (req: Request, res: Response, next: NextFunction): void => {
    const path = req.path.toLowerCase().replace(/\/$/, "");
    const allowed = allowedAt[path] ?? reading;
    const isPreflight =
      req.method === "OPTIONS" &&
      req.headers["access-control-request-method"] !== undefined &&
      openToScripts.test(path);
    if (isPreflight || allowed.split(", ").includes(req.method)) return next();
    const status = path === "/oauth2/token" ? 400 : 405;
    res.set("Allow", allowed);
    const reason = seenByPeople.test(path) ? "not_found" : null;
    sendRefusal(req, res, { status, reason, description: `this address only takes ${allowed}` });
  };
