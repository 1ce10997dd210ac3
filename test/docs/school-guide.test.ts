import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Locale } from "../../src/platform/pages/index.ts";
import { listTexts } from "../support/page-texts.ts";
import { startService } from "../support/service.ts";

const service = await startService();

const read = (locale: Locale): string => readFileSync(`docs/school-guide.${locale}.md`, "utf8");
const partsOf = (text: string): string[] =>
  [...text.replaceAll(".de.png)", ".png)").matchAll(/^(#+) |(\(pictures\/.+\))|^(```)/gm)].map(([, ...parts]) =>
    parts.find(Boolean)!,
  );

test.each(["de", "en"] as const)(
  "the guide for schools is served in the language of the browser: %s",
  async (locale) => {
    const response = await fetch(`${service.url}/guide`, { headers: { "Accept-Language": locale } });
    const html = await response.text();
    expect(response.headers.get("Content-Language")).toBe(locale);
    expect(html).toContain(`<h1>${/^# (.+)$/m.exec(read(locale))![1]!}</h1>`);
    const pictures = [...html.matchAll(/src="(\/docs\/pictures\/[^"]+)"/g)].map(([, path]) => path!);
    expect(pictures.length).toBeGreaterThan(5);
    for (const path of pictures) expect((await fetch(service.url + path, { method: "HEAD" })).status, path).toBe(200);
  },
);

test("both languages have the same chapters and pictures", () => {
  expect(partsOf(read("de"))).toEqual(partsOf(read("en")));
});

test.each(["de", "en"] as const)("what the guide prints in bold is a text of the pages: %s", (locale) => {
  const plain = (text: string) =>
    text
      .replace(/{{\w+}}| …$/g, "")
      .replace(/\s+/g, " ")
      .trim();
  const texts = globSync("src/portal/*/").flatMap((folder) => [...listTexts(folder, locale).values()].map(plain));
  const bold = [...read(locale).matchAll(/\*\*([^*]+)\*\*/g)].map(([, text]) => plain(text!));
  expect(bold.length).toBeGreaterThan(10);
  expect(bold.filter((text) => !texts.includes(text))).toEqual([]);
});
