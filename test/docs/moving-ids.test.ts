import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import texts from "../../src/portal/partner/locales/en.json" with { type: "json" };

test("docs/moving-ids.md names what is on the page as the page does", () => {
  const prose = readFileSync("docs/moving-ids.md", "utf8").replaceAll(/^```[^]*?^```$/gm, "");
  const quoted = [...prose.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
  const { partner, new: choice, ids } = texts;
  const names = [partner.pages.ids, choice.idsOf.PARTNER, ids.cutOverHeading, ids.callOffHeading];
  expect(quoted).toEqual(expect.arrayContaining(names));
});
