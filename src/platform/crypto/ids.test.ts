import { expect, test } from "vitest";
import { makeUuid, uuidPattern, shortCodeOf } from "./ids.ts";

test("ids are UUIDs of version 7, in the order of time, and of one millisecond in the order in which they were made", () => {
  const times = [0, 1, 1, 1, 2].flatMap((ms) => Array.from({ length: 20_000 }, () => new Date(1_770_000_000_000 + ms)));
  const made = times.map((time) => makeUuid(time));
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(made.every((id) => shape.test(id) && uuidPattern.test(id))).toBe(true);
  expect(Number.parseInt(made[0]!.replaceAll("-", "").slice(0, 12), 16)).toBe(1_770_000_000_000);
});

test("a request has the same short code each time, and others have others", () => {
  const ids = Array.from({ length: 1000 }, (_, index) => `0193f6a2-7a3c-7000-8000-${String(index).padStart(12, "0")}`);
  const codes = ids.map(shortCodeOf);
  expect(codes.every((code) => /^[2-9A-HJ-NP-Z]{6}$/.test(code))).toBe(true);
  expect(new Set(codes).size).toBe(ids.length);
  expect(ids.map(shortCodeOf)).toEqual(codes);
});
