import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { PersonId } from "../../directory/index.ts";
import { hide, reveal } from "./form.ts";

test("what was typed stands in an address so that only its reader can read it", () => {
  const keys = [randomBytes(32)];
  const [reader, other] = ["a" as PersonId, "b" as PersonId];
  const hidden = hide(keys, reader, "Bo Müller");
  expect(hidden).toMatch(/^[\w-]+$/);
  expect(reveal(keys, reader, hidden)).toBe("Bo Müller");
  expect([reveal(keys, other, hidden), reveal(keys, reader, "x"), reveal(keys, reader, "")]).toEqual(["", "", ""]);
  expect(hide(keys, reader, "")).toBe("");
});
