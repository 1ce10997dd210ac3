// @module-tag model
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ESLint } from "eslint";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
let folder: string;
let eslint: ESLint;

/** What must not get in, each in a file of its own: rule, place, text. */
const planted: [rule: string, file: string, text: string][] = [
  [
    "@typescript-eslint/no-floating-promises",
    "src/idm/floating.ts",
    "export function go(work: () => Promise<void>) {\n  work();\n}",
  ],
  [
    "@typescript-eslint/no-misused-promises",
    "src/idm/misused.ts",
    "export const go = (work: () => Promise<void>) => setTimeout(work, 1);",
  ],
  [
    "@typescript-eslint/no-explicit-any",
    "src/idm/any.ts",
    "export const open = (value: any): string => String(value);",
  ],
  [
    "@typescript-eslint/no-unsafe-return",
    "src/idm/unsafe.ts",
    "export const read = (text: string): string => JSON.parse(text);",
  ],
  ["@typescript-eslint/no-unused-vars", "src/idm/unused.ts", "const spare = 1;\nexport const used = 2;"],
  [
    "@typescript-eslint/switch-exhaustiveness-check",
    "src/idm/switch.ts",
    'export function is(x: "a" | "b"): void {\n  switch (x) {\n    case "a":\n      throw new Error(x);\n  }\n}',
  ],
  [
    "@typescript-eslint/consistent-type-imports",
    "src/idm/types.ts",
    'import { Stats } from "node:fs";\nexport type Size = Stats["size"];',
  ],
  ["@typescript-eslint/ban-ts-comment", "src/idm/suppressed.ts", "// @ts-ignore\nexport const one = 1;"],
  ["no-restricted-properties", "src/idm/environment.ts", "export const port = process.env;"],
  ["no-restricted-imports", "src/idm/imported.ts", 'import { env } from "node:process";\nexport const port = env;'],
  ["no-console", "src/idm/console.ts", 'console.log("hello");'],
  [
    "no-restricted-syntax",
    "test/imports/seedless.test.ts",
    'import fc from "fast-check";\nfc.assert(fc.property(fc.nat(), (n) => n >= 0), { numRuns: 5 });',
  ],
  [
    "no-restricted-syntax",
    "test/idm/short.test.ts",
    'import { test } from "vitest";\ntest("ends soon", { timeout: 60_000 }, () => undefined);',
  ],
  [
    "no-restricted-syntax",
    "test/idm/each.test.ts",
    'import { test } from "vitest";\ntest.each([1])("%i ends soon", () => undefined, 60_000);',
  ],
  [
    "no-restricted-syntax",
    "test/idm/signal.test.ts",
    "declare const job: { run(signal: AbortSignal): void };\njob.run(AbortSignal.timeout(60_000));",
  ],
  [
    "no-restricted-syntax",
    "test/idm/hook.test.ts",
    'import { beforeAll } from "vitest";\nbeforeAll(() => undefined, 60_000);',
  ],
  [
    "no-restricted-syntax",
    "src/idm/visible.ts",
    'type Visible = string & { readonly brand: true };\nexport const all = "true" as Visible;',
  ],
  ["max-len", "src/idm/long.ts", `// ${"a long comment ".repeat(9)}\nexport const long = 1;`],
  ["eqeqeq", "src/idm/equal.ts", "export const same = (a: string, b: string) => a == b;"],
];
const allowed: [file: string, text: string][] = [
  ["src/config/read.ts", "export const port = process.env;"],
  [
    "test/imports/seeded.test.ts",
    'import fc from "fast-check";\ndeclare function walks(n: number): object;\nfc.assert(fc.property(fc.nat(), (n) => n >= 0), walks(5));',
  ],
  [
    "src/access/visibility.ts",
    'type Visible = string & { readonly brand: true };\nexport const rule = "true" as Visible;',
  ],
  ["openapi/tools/talk.ts", 'console.log("hello", process.env);'],
];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "code-rules-"));
  for (const name of ["eslint.config.js", "tsconfig.json", "package.json"])
    await copyFile(join(root, name), join(folder, name));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const files = [...planted.map(([, file, text]) => [file, text] as const), ...allowed];
  for (const [file, text] of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), `${text}\n`);
  }
  eslint = new ESLint({ cwd: folder });
});
afterAll(() => rm(folder, { recursive: true }));

async function brokenRules(file: string): Promise<(string | null)[]> {
  const results = await eslint.lintFiles([file]);
  return [...new Set(results.flatMap((result) => result.messages.map((message) => message.ruleId)))];
}

test.each(planted)("%s stops its planted violation", async (rule, file) => {
  expect(await brokenRules(file)).toEqual([rule]);
});

test.each(allowed)("%s may do what others may not", async (file) => {
  expect(await brokenRules(file)).toEqual([]);
});
