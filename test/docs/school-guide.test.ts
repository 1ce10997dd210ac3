import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Locale } from "../../src/platform/pages/index.ts";
import { listTexts } from "../support/page-texts.ts";
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

const guides = ["school-guide", "data-protection", "own-login"].flatMap((name) =>
  (["de", "en"] as const).map((locale) => [name, locale] as const),
);

test.each(["de", "en"] as const)(
  "a proof of a deletion is prepared before it, when the id is still known: %s",
  (locale) => {
    const chapter = read("data-protection", locale).split(/^## /m)[5]!;
    expect(chapter.indexOf("`person.id`")).toBeGreaterThan(0);
    expect(chapter.indexOf("`person.id`")).toBeLessThan(chapter.indexOf("`schultor person prove-erased`"));
  },
);

test.each(["de", "en"] as const)("only the table of the page is said to open in Excel: %s", (locale) => {
  expect(read("data-protection", locale)).not.toMatch(/processing-record .*--output csv/);
});

test.each(guides)("what a guide prints in bold is a text of the pages: %s %s", (name, locale) => {
  const plain = (text: string) =>
    text
      .replace(/{{\w+}}| …$/g, "")
      .replace(/\s+/g, " ")
      .trim();
  const texts = globSync("src/portal/*/").flatMap((folder) => [...listTexts(folder, locale).values()].map(plain));
  const bold = [...read(name, locale).matchAll(/\*\*([^*]+)\*\*/g)].map(([, text]) => plain(text!));
  expect(bold.length).toBeGreaterThan(8);
  expect(bold.filter((text) => !texts.includes(text))).toEqual([]);
});
