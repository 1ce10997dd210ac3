import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { options } from "../../src/config/options/index.ts";

test("the limits of docs/going-live.md are the defaults of the settings that it names", () => {
  const text = readFileSync("docs/going-live.md", "utf8");
  const rows = [...text.matchAll(/^\| [^|]+ \| (\d+)(?: (seconds|days))? \| `([A-Z_]+)` \|$/gm)];
  expect(rows.length).toBeGreaterThan(10);
  const shown = rows.map(([, value, unit, name]) => [name, value, unit]);
  const defaults = rows.map(([, , , name]) => {
    const unit = /_(SECONDS|DAYS)$/.exec(name!)?.[1]?.toLowerCase();
    return [name, (options as Record<string, { default?: string }>)[name!]?.default, unit];
  });
  expect(shown).toEqual(defaults);
});
