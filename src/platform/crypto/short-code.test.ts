import { expect, test } from "vitest";
import { shortCodeOf } from "./short-code.ts";

test("a request has the same short code each time, and others have others", () => {
  const ids = Array.from({ length: 1000 }, (_, index) => `0193f6a2-7a3c-7000-8000-${String(index).padStart(12, "0")}`);
  const codes = ids.map(shortCodeOf);
  expect(codes.every((code) => /^[2-9A-HJ-NP-Z]{6}$/.test(code))).toBe(true);
  expect(new Set(codes).size).toBe(ids.length);
  expect(ids.map(shortCodeOf)).toEqual(codes);
});
