import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { makeCookieSignatures } from "./cookie-signatures.ts";

const signatures = makeCookieSignatures(randomBytes(32));
const signature = signatures.sign("_session=abc");

test("a signature holds for what it was made for, with the key it was made with", () => {
  expect(signatures.verify("_session=abc", signature)).toBe(true);
  expect(signatures.index("_session=abc", signature)).toBe(0);
  expect(signatures.index("_session=abd", signature)).toBe(-1);
  expect(makeCookieSignatures(randomBytes(32)).verify("_session=abc", signature)).toBe(false);
});

test.each(["", "x", signature.slice(1), `${signature}AAAA`, "ä".repeat(43)])("%j is no signature", (presented) => {
  expect(signatures.verify("_session=abc", presented)).toBe(false);
});
