import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { printPage } from "./results.ts";

test("the page of generated clients says what was run", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/generated-clients.md"), "utf8");
  expect(page).toBe(printPage(page));
  expect(page).toContain("every operation, refusals, types");
});
