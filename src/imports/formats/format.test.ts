import { expect, test } from "vitest";
import { schoolYearOf } from "./format.ts";

test("from May on rosters are of the next school year", () => {
  expect(schoolYearOf(new Date(2026, 3, 30))).toBe("2025/26");
  expect(schoolYearOf(new Date(2026, 4, 1))).toBe("2026/27");
});
