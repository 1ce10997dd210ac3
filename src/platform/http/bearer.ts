import type { Request, Response } from "express";
import { AppError } from "../errors.ts";

const header = /^bearer +([\w.~+/-]+=*) *$/i;

export function findBearer(req: Request): string | null {
  return header.exec(req.headers.authorization ?? "")?.[1] ?? null;
}

/** Source: RFC 6750 section 3: without a token there is no error code. */
export function refuseMissingToken(res: Response): AppError {
  res.setHeader("WWW-Authenticate", "Bearer");
  return new AppError("unauthenticated", "missing_token", "An access token is required in the Authorization header.");
}

/** Both are `invalid_token` on the wire; Schulconnex distinguishes them by `internal`. */
export function refuseToken(res: Response, kind: "expired" | "unknown"): AppError {
  res.setHeader("WWW-Authenticate", 'Bearer error="invalid_token"');
  return new AppError("unauthenticated", "invalid_token", "The access token is unknown, expired or revoked.", kind);
}

export function refuseScope(res: Response, scope: string): AppError {
  res.setHeader("WWW-Authenticate", `Bearer error="insufficient_scope", scope="${scope}"`);
  return new AppError("forbidden", "insufficient_scope", "The access token lacks the scope that this operation needs.");
}

export function refuseContext(res: Response, context: "app" | "user"): AppError {
  const wanted = context === "app" ? "of the app itself (client credentials)" : "from a person's sign-on";
  const message = `This operation needs an access token ${wanted}.`;
  res.setHeader("WWW-Authenticate", `Bearer error="insufficient_scope", error_description="${message}"`);
  return new AppError("forbidden", "wrong_context", message);
}
