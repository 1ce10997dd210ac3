import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

type Texts = { [key: string]: string | Texts };

const areas = globSync("src/portal/*/locales/de.json")
  .map((file) => dirname(dirname(file)))
  .sort();

const read = (folder: string, locale: string): Texts =>
  JSON.parse(readFileSync(join(folder, "locales", `${locale}.json`), "utf8")) as Texts;

const keysOf = (texts: Texts, before = ""): string[] =>
  Object.entries(texts).flatMap(([key, text]) =>
    typeof text === "string" ? [before + key] : keysOf(text, `${before}${key}.`),
  );

const valuesIn = (texts: Texts): Map<string, string> =>
  new Map(
    keysOf(texts).map((key) => {
      const text = key.split(".").reduce<string | Texts>((inner, part) => (inner as Texts)[part]!, texts) as string;
      return [
        key,
        [...text.matchAll(/{{(\w+)}}/g)]
          .map(([, name]) => name)
          .sort()
          .join(" "),
      ];
    }),
  );

test("there are areas", () => {
  expect(areas).toContain("src/portal/frame");
});

test.each(areas)("%s says the same in both languages, with the same values", (folder) => {
  const [german, english] = [valuesIn(read(folder, "de")), valuesIn(read(folder, "en"))];
  expect([...english.keys()].sort()).toEqual([...german.keys()].sort());
  for (const [key, values] of german) expect([key, english.get(key)]).toEqual([key, values]);
});

test.each(areas)("%s has each text that its templates name", (folder) => {
  const known = new Set([...keysOf(read("src/portal/frame", "de")), ...keysOf(read(folder, "de"))]);
  const isKnown = (key: string) => known.has(key) || known.has(`${key}_one`) || known.has(`${key}_other`);
  for (const file of globSync(`${folder}/**/*.eta`))
    for (const [, key] of readFileSync(file, "utf8").matchAll(/it\.t\("([\w.]+)"[,)]/g))
      expect([file, key, isKnown(key!)]).toEqual([file, key, true]);
});
