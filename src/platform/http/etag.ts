import { hash } from "node:crypto";
import type { Request } from "express";

// Tags are not secret, so a fast hash is enough.

export const etagOf = (body: Buffer | string): string => `"${hash("sha1", body, "base64url")}"`;

/** Source: RFC 9110 section 13.1.2: weak comparison, because a proxy may have weakened the tag. */
export function isNotModified(req: Request, etag: string): boolean {
  const given = req.headers["if-none-match"];
  if (given === undefined) return false;
  return given.trim() === "*" || given.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

export const headersOf = (etag: string) => ({ ETag: etag, "Cache-Control": "private, no-cache" });
