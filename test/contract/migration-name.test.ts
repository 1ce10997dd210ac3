import { expect, test } from "vitest";
import { nameNextMigration } from "../../prisma/migration-name.ts";

test("a migration is numbered after the highest one, whatever numbers are missing", () => {
  expect(nameNextMigration(["0001_initial", "0002_logo", "0044_turns"], "short_name")).toBe("0045_short_name");
  expect(nameNextMigration([], "initial")).toBe("0001_initial");
});
