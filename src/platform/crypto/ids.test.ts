import { expect, test } from "vitest";
import { makeUuid, uuidPattern } from "./ids.ts";

test("ids are UUIDs of version 7, in the order of time, and of one millisecond in the order in which they were made", () => {
  const times = [0, 1, 1, 1, 2].flatMap((ms) => Array.from({ length: 20_000 }, () => new Date(1_770_000_000_000 + ms)));
  const made = times.map((time) => makeUuid(time));
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(made.every((id) => shape.test(id) && uuidPattern.test(id))).toBe(true);
  expect(Number.parseInt(made[0]!.replaceAll("-", "").slice(0, 12), 16)).toBe(1_770_000_000_000);
});
