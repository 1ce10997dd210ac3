import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Locale } from "../../src/platform/pages/index.ts";
import { startService } from "../support/service.ts";

const service = await startService();

const read = (name: string, locale: Locale): string => {
  const file = `docs/${name}.${locale}.md`;
  return readFileSync(existsSync(file) ? file : `docs/${name}.md`, "utf8");
};
const partsOf = (text: string): string[] =>
  [...text.replaceAll(".de.png)", ".png)").matchAll(/^(#+) |(\(pictures\/.+\))|^(```)|^(\| )|^(<!-- .+ -->)/gm)].map(
    ([, ...parts]) => parts.find(Boolean)!,
  );
const open = (path: string, locale: Locale) => fetch(service.url + path, { headers: { "Accept-Language": locale } });

const pages = [
  ["/guide", "school-guide"],
  ["/guide/data-protection", "data-protection"],
  ["/guide/own-login", "own-login"],
  ["/docs/privacy", "privacy"],
] as const;

describe.each(pages)("%s", (path, name) => {
  test.each(["de", "en"] as const)("is served in the language of the browser: %s", async (locale) => {
    const response = await open(path, locale);
    const html = await response.text();
    expect(response.headers.get("Content-Language")).toBe(locale);
    expect(html).toContain(`<h1>${/^# (.+)$/m.exec(read(name, locale))![1]!}</h1>`);
    const links = [...html.matchAll(/(?:src="(\/docs\/pictures\/[^"]+)"|href="(\/(?:docs|guide)[^"#]*))/g)];
    for (const [, picture, page] of links)
      expect((await fetch(service.url + (picture ?? page!), { method: "HEAD" })).status, picture ?? page).toBe(200);
  });

  test("has the same chapters, tables and pictures in both languages", () => {
    expect(partsOf(read(name, "de"))).toEqual(partsOf(read(name, "en")));
  });
});

test("the guide for schools shows its pages", async () => {
  const html = await (await open("/guide", "de")).text();
  expect(html.match(/src="\/docs\/pictures\//g)!.length).toBeGreaterThan(5);
});
