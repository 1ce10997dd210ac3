import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { namedSql } from "./named-sql.ts";

const files = globSync("src/**/*.ts")
  .filter((file) => !file.endsWith(".test.ts"))
  .sort();

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");

const sqlText =
  /(["'`])\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|SET|BEGIN|COMMIT|ROLLBACK|LOCK|ANALYZE|LISTEN|NOTIFY|COPY|CREATE|ALTER|DROP|TRUNCATE|DECLARE)\b[^"'`]/;
const isNamedSql = (text: string): boolean => /\bsql`|\bstatement[<(]/.test(text) || sqlText.test(text);
const withNamedSql = files.filter((file) => isNamedSql(withoutComments(readFileSync(file, "utf8"))));

/** `src/a/{b,c}.ts` is two files. */
function expand(pattern: string): string[] {
  const braces = /^(.*)\{([^}]+)\}(.*)$/.exec(pattern);
  return braces === null ? [pattern] : braces[2]!.split(",").map((name) => `${braces[1]!}${name}${braces[3]!}`);
}

const listed = namedSql.flatMap(([patterns]) => patterns.flatMap(expand));

test("every file with named SQL is listed with the reason, and no other file", () => {
  expect(
    withNamedSql.filter((file) => !listed.includes(file)),
    "named SQL without a reason",
  ).toEqual([]);
  expect(
    listed.filter((path) => !withNamedSql.includes(path)),
    "listed without named SQL, or a whole folder",
  ).toEqual([]);
  expect(new Set(listed).size, "a file is listed once").toBe(listed.length);
  for (const [patterns, reason] of namedSql) expect(reason, patterns.join(" ")).not.toBe("");
});

/** Files whose statements number their parameters by hand. This list only shrinks. */
const numberedByHand: string[] = [];

test("no statement numbers its parameters by hand", () => {
  const numbered = withNamedSql.filter((file) => /\$[1-9]\d*\b/.test(withoutComments(readFileSync(file, "utf8"))));
  expect(numbered).toEqual(numberedByHand);
});

test.each([
  ['db.query("SELECT 1")', true],
  ["const text = `\n  WITH asked AS (SELECT 1) SELECT`;", true],
  ["sql`${p.id} = 1`", true],
  ["const find = statement<Given>((given) => build(given))", true],
  ['"Select a school."', false],
  ["// SELECT is not used here", false],
  ['const state = "UPDATED"', false],
])("%s: named SQL is %s", (text, is) => {
  expect(isNamedSql(withoutComments(text))).toBe(is);
});
