import { timingSafeEqual } from "node:crypto";
import { hmac } from "../../../platform/crypto/hmac.ts";

/** Bound to an interaction and to the browser that has its cookie. */
type Bound = { interaction: string; browser: string };

export function makeCsrfToken(key: Buffer, { interaction, browser }: Bound): string {
  return hmac(key)
    .update(JSON.stringify([interaction, browser]))
    .digest("base64url");
}

export function checkCsrfToken(key: Buffer, bound: Bound, presented: unknown): boolean {
  const expected = Buffer.from(makeCsrfToken(key, bound));
  const given = Buffer.from(typeof presented === "string" ? presented : "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
