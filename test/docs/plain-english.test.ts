import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { options } from "../../src/config/options/index.ts";

type Sentence = { file: string; text: string };

/** Phrases that a reader has to decode, each with what to write instead. */
const phrases: [phrase: RegExp, instead: string][] = [
  [/\bwhom?ever\b/i, "people who, an app that"],
  [/\bmend(s|ed|ing)?\b/i, "fix"],
  [/\bhand(s|ed|ing)?( it| them| the file| something)? in\b/i, "upload"],
  [/\banswer(s|ed)? (with )?\d{3}\b/i, "returns 404, gets 404"],
  [/\b(is|are|be) answered\b/i, "gets, returns"],
  [/\b(is|are) told (of|that)\b/i, "is notified of"],
  [/\bof now\b/i, "present"],
  [/\bstands (in|behind|beside|for|there)\b/i, "is in, comes after, means"],
  [/\bits inside\b/i, "its format"],
  [/\bbroken off\b/i, "closed"],
  [/\bgone for good\b/i, "deleted for good"],
  [/\bthrow(s|n)?[ -]away\b/i, "discard, temporary"],
  [/\bletter by letter\b/i, "exactly"],
  [/\bside by side\b/i, "in parallel, at the same time"],
  [/\b(is|are) let in\b/i, "may sign in"],
  [/\btakes? the place of\b/i, "replaces"],
  [/\bsomebody of\b/i, "a person, staff"],
  [/\b(is|are) none of\b/i, "is not"],
  [/\bwhat (waits|comes|leaves|enters)\b/i, "pending deliveries, records that"],
  [/\bwhat is left out\b/i, "properties that are left out"],
];

const pages = [
  "{docs,deploy,examples,openapi/rules,clients/typescript}/**/*.md",
  "{README,ARCHITECTURE,CONTRIBUTING,SECURITY,CHANGELOG,prisma/GROWTH}.md",
];
const contract =
  "openapi/{*.yaml,{admin,examples,headers,idm,parameters,responses,schemas,schulconnex,sign-on,webhooks}/*.yaml}";
const files = (pattern: string | string[]) =>
  globSync(pattern, { exclude: (path) => path.endsWith("node_modules") }).sort();

/** The paragraphs, list items and table rows of a page, without programs and code. */
function readPage(file: string): Sentence[] {
  const prose = readFileSync(file, "utf8").replace(/^ *```[^]*?^ *```/gm, "");
  return prose
    .split(/\n\n+|\n(?=\s*(?:- |\d+\. |\|))/)
    .map((text) => ({ file, text: text.replace(/`[^`]*`/g, "`…`") }));
}

/** The descriptions and summaries of a contract; what an example or an error of the service says is not among them. */
function readContract(file: string): Sentence[] {
  const collect = (node: unknown): Sentence[] => {
    if (Array.isArray(node)) return node.flatMap(collect);
    if (typeof node !== "object" || node === null) return [];
    return Object.entries(node).flatMap(([key, value]) =>
      typeof value === "string" && ["description", "summary"].includes(key)
        ? value.split("\n\n").map((text) => ({ file, text }))
        : key === "value" || key === "example"
          ? []
          : collect(value),
    );
  };
  return collect(parse(readFileSync(file, "utf8")));
}

const readSettings = (): Sentence[] =>
  Object.entries(options).map(([name, { meaning }]) => ({ file: `src/config/options, ${name}`, text: meaning }));

/** The English texts of pages and of advice to partners. */
const readTexts = (file: string): Sentence[] => {
  const collect = (texts: unknown): string[] =>
    typeof texts === "string" ? [texts] : Object.values(texts as object).flatMap(collect);
  return collect(JSON.parse(readFileSync(file, "utf8"))).map((text) => ({ file, text }));
};

const findPhrases = (sentences: Sentence[]): string[] =>
  sentences.flatMap(({ file, text }) => {
    const line = text.replace(/\s+/g, " ");
    return phrases.flatMap(([phrase, instead]) => {
      const found = phrase.exec(line);
      return found ? [`${file}: "${found[0]}" in "${line}": write "${instead}"`] : [];
    });
  });

test("the pages have none of the phrases that a reader has to decode", () => {
  const read = files(pages);
  expect(read.length).toBeGreaterThan(60);
  expect(findPhrases(read.flatMap(readPage))).toEqual([]);
});

test("nor do the descriptions of the contract", () => {
  const read = files(contract).flatMap(readContract);
  expect(read.length).toBeGreaterThan(1500);
  expect(findPhrases(read)).toEqual([]);
});

test("nor do the English texts", () => {
  const read = files(["src/**/locales/en.json", "src/platform/advice/*/*en.json"]).flatMap(readTexts);
  expect(read.length).toBeGreaterThan(1000);
  expect(findPhrases(read)).toEqual([]);
});

test("nor do the meanings of the settings", () => {
  const read = readSettings();
  expect(read.length).toBeGreaterThan(50);
  expect(findPhrases(read)).toEqual([]);
});

test.each([
  ["Whoever comes then is answered 503 with their turn.", 3],
  ["The place of now; its inside is not for you to read.", 2],
  ["People who hand their roster in again mend it.", 1],
  ["The response is 503, and the page counts down to your turn.", 0],
])("%s", (text, count) => {
  expect(findPhrases([{ file: "planted", text }])).toHaveLength(count);
});
