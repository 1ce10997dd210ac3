import { timingSafeEqual } from "node:crypto";
import { hmac } from "../../../platform/crypto/hmac.ts";

/**
 * Makes the token that a form carries.
 *
 * Shape: bound to the interaction and to the browser that holds its cookie, so that neither another person's
 *        page nor another site's form can use it.
 */
export function makeCsrfToken(key: Buffer, bound: { interaction: string; browser: string }): string {
  return hmac(key)
    .update(JSON.stringify([bound.interaction, bound.browser]))
    .digest("base64url");
}

export function checkCsrfToken(
  key: Buffer,
  bound: { interaction: string; browser: string },
  presented: unknown,
): boolean {
  const expected = Buffer.from(makeCsrfToken(key, bound));
  const given = Buffer.from(typeof presented === "string" ? presented : "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
