import type { JWTPayload } from "jose";
import { expect } from "vitest";

const skewSeconds = 300;

/** Checks what every ID token of the suite needs: issuer, audience, times, subject and the types of standard claims. */
export function expectIdToken(
  claims: JWTPayload,
  { issuer, clientId, now }: { issuer: string; clientId: string; now: Date },
): void {
  const seconds = now.getTime() / 1000;
  expect(claims.iss).toBe(issuer);
  expect([claims.aud].flat()).toContain(clientId);
  expect(claims.exp).toBeGreaterThan(seconds - skewSeconds);
  expect(claims.iat).toBeLessThan(seconds + skewSeconds);
  expect(claims.sub).toMatch(/^[\x21-\x7e]{1,255}$/);
  expectText(claims);
}

const textClaims = [
  ...["name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "profile", "picture"],
  ...["website", "email", "gender", "birthdate", "zoneinfo", "locale", "phone_number", "acr"],
];

/** Checks the types of the standard claims (OpenID Connect Core section 5.1). */
export function expectText(claims: Record<string, unknown>): void {
  const wrong = textClaims.filter((name) => name in claims && typeof claims[name] !== "string");
  expect(wrong).toEqual([]);
  expect(["undefined", "number"]).toContain(typeof claims["updated_at"]);
}

export function isEqualOrAbsent(value: unknown, wanted: string | null): void {
  expect(value ?? null).toBe(wanted);
}

/** Shannon's entropy of a text, in bits; the suite wants 96 for codes and tokens. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  return [...counts.values()].reduce((bits, count) => bits - count * Math.log2(count / text.length), 0);
}

/** An unsigned JWT, as the suite's request objects are. */
export const unsigned = (payload: object): string =>
  [{ alg: "none" }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".") + ".";
