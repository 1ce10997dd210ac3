import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { plainTemplate } from "../../src/imports/formats/plain.ts";

const source = (path: string) => readFileSync(new URL(`../../src/imports/${path}`, import.meta.url), "utf8");
const [, , plain = "", oneRoster = "", schulconnex = ""] = source("FORMATS.md")
  .split(/^## (?=How|Plain|OneRoster|Schulconnex|The change)/m)
  .filter((_, index) => index < 5);
const sorted = (words: Iterable<string>) => [...new Set(words)].toSorted();
const found = (pattern: RegExp, text: string) => Array.from(text.matchAll(pattern), (match) => match[1]!);
const codes = (text: string) => found(/`(\w[\w.:]*)`/g, text);
const words = (text: string) => found(/"([\w.:]+)"/g, text);
const between = (text: string, from: string, to: string) =>
  text.slice(text.indexOf(from), text.indexOf(to, text.indexOf(from)));

test("FORMATS.md names the columns of OneRoster that are read, and its roles", () => {
  const code = source("formats/oneroster.ts");
  const asked = found(/\brow\s*\.(?:get|need|take|choose|column)\(\s*"([\w.]+)"/g, code);
  const table = found(/^\| `\w+\.csv`[^|]*\|(.*)\|$/gm, oneRoster).join();
  expect(sorted(codes(table))).toEqual(sorted([...asked, "role", "username"]));
  const named = codes(between(oneRoster, "Roles:", "Any other")).filter((one) => one !== "ext:");
  const known = words(between(code, "const otherRoles", "const classTypes")).filter((one) => !/^[A-Z]/.test(one));
  expect(sorted(named.map((one) => one.toLowerCase()))).toEqual(sorted(known));
});

test("FORMATS.md names the fields of Schulconnex that are read, and its codes", () => {
  const code = source("formats/schulconnex.ts");
  const paths = found(
    /\[((?:\.\.\.\w+, )?(?:"\w+"|index)(?:, (?:"\w+"|index))*)\]/g,
    code.slice(code.indexOf("function readRecord")),
  );
  const fields = sorted([...words(paths.join()), ...words(between(code, 'isSilentAbout("name")', "]"))]);
  expect(sorted(codes(between(schulconnex, "Of a record", "Fields that")))).toEqual(
    fields.filter((one) => !/^[A-Z]/.test(one)),
  );
  const known = words(between(code, "const roles = ", "type Reader")).filter((one) => !/^[A-Z]/.test(one));
  const named = found(/^\| `\w+`[^|]*\|(.*)\|$/gm, schulconnex).flatMap(codes);
  expect(sorted(named.map((one) => one.toLowerCase()))).toEqual(sorted(known));
});

test("FORMATS.md names the columns of the table that are read", () => {
  const code = source("formats/plain.ts");
  const kept = words(between(code, "const groupColumns", "export const plainTemplate")).filter((one) =>
    /^[a-z_]+$/.test(one),
  );
  const columns = found(/^\| (`\w+`(?:, `\w+`)*) \|/gm, plain).flatMap(codes);
  const kinds = ["class", "course", "group", "full_name"];
  const ids = kinds.slice(0, 3).map((kind) => `${kind}_ids`);
  expect(sorted(columns)).toEqual(sorted([...ids, ...kept]).filter((one) => !kinds.includes(one)));
  expect(
    plainTemplate()
      .split("\n")[0]!
      .trim()
      .split(";")
      .every((heading) => columns.includes(heading)),
  ).toBe(true);
});
