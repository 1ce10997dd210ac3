import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Request, Response } from "express";
import { hmac, sealRepeatably, unseal, type EncryptionKeys } from "../../platform/crypto/seal.ts";
import type { PersonId } from "../../directory/index.ts";

const cookieName = "_portal";

/** The values of a form; a repeated name has several. */
export type Typed = Readonly<Record<string, readonly string[]>>;

export function readTyped(body: unknown): Typed {
  return Object.fromEntries(
    Object.entries((body ?? {}) as Record<string, unknown>).flatMap(([name, value]) => {
      const values = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string");
      return name === "token" || values.length === 0 ? [] : [[name, values]];
    }),
  );
}

/** The first value of a field, trimmed; "" if missing. */
export const fieldOf = (typed: Typed, name: string): string => (typed[name]?.[0] ?? "").trim();

/** Identifies the browser by a cookie that its first page sets. */
export function nameBrowser(req: Request, res: Response): string {
  const token = new RegExp(`(?:^|; *)${cookieName}=([\\w-]{22})(?:;|$)`).exec(req.headers.cookie ?? "")?.[1];
  if (token !== undefined) return token;
  const made = randomBytes(16).toString("base64url");
  res.cookie(cookieName, made, { httpOnly: true, sameSite: "lax", secure: req.secure, path: "/" });
  return made;
}

/** `reader` is the signed-in person, or what stands for somebody without an account. */
type Bound = { browser: string; reader: string };

const tokenBy = (key: Buffer, { browser, reader }: Bound): Buffer =>
  hmac(key)
    .update(JSON.stringify([browser, reader]))
    .digest();

/** Makes the CSRF token of a form, bound to the browser and the reader. */
export const makeFormToken = (keys: EncryptionKeys, bound: Bound): string =>
  tokenBy(keys[0]!, bound).toString("base64url");

/** Whether the browser reports a request from another site. */
export function isFromOtherSite(req: Request): boolean {
  const from = req.get("sec-fetch-site");
  return from !== undefined && from !== "same-origin" && from !== "none";
}

/** Whether a form was shown by this service in this browser to this reader. */
export function isOwnForm(keys: EncryptionKeys, bound: Bound, req: Request): boolean {
  const { token } = (req.body ?? {}) as { token?: unknown };
  const first: unknown = Array.isArray(token) ? token[0] : token;
  const sent = Buffer.from(typeof first === "string" ? first : "", "base64url");
  return keys.some((key) => {
    const expected = tokenBy(key, bound);
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
}

const purposeFor = (personId: PersonId): string => `address of ${personId}`;

/** Encrypts a text for one reader; "" stays "", and equal texts give equal addresses. */
export const hide = (keys: EncryptionKeys, reader: PersonId, text: string): string =>
  text === "" ? "" : sealRepeatably(keys, purposeFor(reader), Buffer.from(text)).toString("base64url");

/** Returns "" for a text that was not hidden for this reader. */
export const reveal = (keys: EncryptionKeys, reader: PersonId, hidden: string): string =>
  unseal(keys, purposeFor(reader), Buffer.from(hidden, "base64url"))?.toString() ?? "";
