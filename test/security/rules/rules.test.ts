import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rules } from "./rules.ts";

const listed: Record<string, readonly string[]> = rules;
const files = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".test.ts") && !["rules.test.ts", "conformance.test.ts"].includes(file))
  .map((file) => file.replace(".test.ts", ""));
const sourceOf = (file: string) => readFileSync(join(import.meta.dirname, `${file}.test.ts`), "utf8");

const standard = String.raw`RFC (?:6749|6750|7636|8252|9207|9700)|OpenID Connect Core|(?:RP-Initiated|Back-Channel) Logout`;
const ruleName = new RegExp(String.raw`^(?:${standard}) \d+(?:\.\d+)*: \S.{10,}[^.]$`);
const namesIn = (source: string): string[] =>
  [...source.matchAll(new RegExp(String.raw`"((?:${standard}) \d[^"\n]*)"`, "g"))].map(([, name]) => name!);
const sorted = (names: readonly string[]) => [...names].sort();

test("each listed rule has exactly one test, in its file, and each test of a rule is listed", () => {
  expect(sorted(files)).toEqual(sorted(Object.keys(listed)));
  for (const file of files) expect([file, sorted(namesIn(sourceOf(file)))]).toEqual([file, sorted(listed[file]!)]);
});

test("no test of these files is without a rule", () => {
  for (const file of files) {
    const source = sourceOf(file);
    const named = [...source.matchAll(/\btest\(\s*"([^"]+)"/g)].map(([, name]) => name!);
    expect([file, named.filter((name) => !listed[file]!.includes(name))]).toEqual([file, []]);
    expect([file, /\btest\.(skip|todo|only|fails|skipIf|runIf)\b/.exec(source)]).toEqual([file, null]);
  }
});

test("a rule is named by standard, section and one sentence, and no two are the same", () => {
  const names = Object.values(rules).flat();
  expect(names.filter((name) => !ruleName.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(150);
});

test("each of the nine standards has rules", () => {
  const numbers = [6749, 6750, 7636, 8252, 9207, 9700].map((number) => `RFC ${number}`);
  const counts = [...numbers, "OpenID Connect Core", "RP-Initiated Logout", "Back-Channel Logout"].map(
    (name) =>
      Object.values(rules)
        .flat()
        .filter((rule) => rule.startsWith(`${name} `)).length,
  );
  expect(Math.min(...counts)).toBeGreaterThan(4);
});
