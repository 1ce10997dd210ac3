import { hash } from "node:crypto";
import type { Request } from "express";

// A tag tells versions apart; it keeps no secret, so the quickest hash will do.

export const etagOf = (body: Buffer | string): string => `"${hash("sha1", body, "base64url")}"`;

/** Source: RFC 9110 section 13.1.2; the comparison is weak, so that a tag that a proxy weakened still counts. */
export function isNotModified(req: Request, etag: string): boolean {
  const given = req.headers["if-none-match"];
  if (given === undefined) return false;
  return given.trim() === "*" || given.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

/** What an app was shown is its own: no shared cache keeps it, and the app asks again before it uses a copy. */
export const headersOf = (etag: string) => ({ ETag: etag, "Cache-Control": "private, no-cache" });
