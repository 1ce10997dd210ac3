// @module-tag slow
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkChangelog, findChangedParts, readChangelog } from "../../openapi/tools/changelog.ts";
import { compareDocuments } from "../../openapi/tools/compare-documents.ts";
import { bundleFolder, readDocument } from "../../openapi/tools/document.ts";
import { generateContracts } from "../../openapi/tools/generate-contracts.ts";
import { runProgram } from "../../openapi/tools/run-program.ts";
import type { OpenApiDocument } from "../../src/platform/http/index.ts";
import { findUntouched } from "../proxy/untouched.ts";
import { makeStep, steps, type Step } from "../support/four-changes.ts";
import { checkArea } from "../support/page-texts.ts";
import { listExamples, type Bundle } from "./bundles.ts";
import { makeCheck } from "./schema-check.ts";

// Plays docs/design/four-changes.md in a copy of the project, and leaves out one file at a time.
const project = join(import.meta.dirname, "..", "..");
const sources = ["openapi", "prisma", "src", "demo", "clients", "generated", "package.json", "prisma.config.ts"];

let copy: string;
/** Texts that the compiler reads instead of those in the copy; null: there is no such file. */
const overlay = new Map<string, string | null>();
let compile: (files?: readonly string[]) => string[];

beforeAll(async () => {
  await mkdir(join(project, ".cache"), { recursive: true });
  copy = await mkdtemp(join(project, ".cache", "newcomer-"));
  for (const source of sources) await cp(join(project, source), join(copy, source), { recursive: true });
  await symlink(join(project, "node_modules"), join(copy, "node_modules"));
  for (const step of steps) {
    const path = join(copy, step.file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, makeStep(step, existsSync(path) ? readFileSync(path, "utf8") : ""));
  }
  await Promise.all([generateContracts(copy), runProgram("prisma", ["generate"], copy)]);
  compile = makeCompiler();
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** A compiler of the copy's `src` that checks again only what a changed file can change. */
function makeCompiler(): (files?: readonly string[]) => string[] {
  const { config } = ts.readConfigFile(join(project, "tsconfig.json"), ts.sys.readFile) as { config: object };
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ["src"] }, ts.sys, copy);
  const host = ts.createCompilerHost(options);
  const readFile = (path: string) => (overlay.has(path) ? (overlay.get(path) ?? undefined) : ts.sys.readFile(path));
  const parsed = new Map<string, ts.SourceFile>();
  Object.assign(host, {
    readFile,
    fileExists: (path: string) => (overlay.has(path) ? overlay.get(path) !== null : ts.sys.fileExists(path)),
    getSourceFile(path: string, language: ts.ScriptTarget | ts.CreateSourceFileOptions) {
      const text = readFile(path);
      if (text === undefined) return undefined;
      const before = parsed.get(path);
      if (before?.text === text) return before;
      const file = ts.createSourceFile(path, text, language);
      parsed.set(path, file);
      return file;
    },
  });
  let program: ts.Program | undefined;
  return (files) => {
    const rootNames = fileNames.filter((path) => overlay.get(path) !== null);
    const made = ts.createProgram(rootNames, options, host, program);
    program = made;
    const found = (files ?? rootNames.map((path) => relative(copy, path))).flatMap((file) => {
      const source = made.getSourceFile(join(copy, file));
      return [...made.getSyntacticDiagnostics(source), ...made.getSemanticDiagnostics(source)];
    });
    return found.map(({ file, messageText }) => {
      const text = ts.flattenDiagnosticMessageText(messageText, "\n");
      return `${relative(copy, file!.fileName)}: ${text}`;
    });
  };
}

/** What the compiler says of files while others have these texts. */
function compileWith(texts: Iterable<readonly [string, string | null]>, files: readonly string[]): string[] {
  for (const [file, text] of texts) overlay.set(join(copy, file), text);
  const errors = compile(files);
  overlay.clear();
  return errors;
}

const textIn = (folder: string, file: string) =>
  existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : null;

const contracts = ["admin", "idm", "webhooks"].map((name) => `generated/openapi/${name}.ts`);
const tables = ["prisma/models/School.ts", "tables/index.ts"].map((name) => `generated/${name}`);

/** The files of a project without the step: what is made of contract and tables is the project's own. */
function textsWithout(step: Step): (readonly [string, string | null])[] {
  if (step.file.startsWith("openapi/")) return contracts.map((file) => [file, textIn(project, file)]);
  if (step.file.startsWith("prisma/")) return tables.map((file) => [file, textIn(project, file)]);
  const others = steps.filter((other) => other.file === step.file && other !== step);
  const text = others.reduce((all, other) => makeStep(other, all), textIn(project, step.file) ?? "");
  return [[step.file, text === "" ? null : text]];
}

const messageOf = (task: string, gate: string): string => {
  const page = readFileSync(join(project, "docs/design/four-changes.md"), "utf8");
  const section = page.split(/^## /m).find((text) => text.startsWith(task))!;
  return new RegExp(`\\*\\*${gate}\\*\\*\\s+says(?:\\s+in\\s+\\S+)?: \`([^\`]+)\``).exec(section)![1]!;
};

const bundleOf = (name: string): Bundle => {
  const text = readFileSync(join(copy, `generated/openapi/${name}.json`), "utf8");
  return { name, text, document: JSON.parse(text) as Bundle["document"] };
};

test("with all files, everything compiles; a property of a school is in at most 11 files and the changelog", () => {
  expect(compile()).toEqual([]);
  const files = steps.filter(({ task }) => task === "A property of a school").map(({ file }) => file);
  expect(new Set(files).size).toBe(files.length);
  expect(files.length).toBeLessThanOrEqual(11);
});

describe("a file that is left out is named", () => {
  const of = (gate: string) => steps.filter(({ without }) => without.gate === gate);

  test.each(of("types"))("by the compiler: $file of $task", (step) => {
    const { at, message } = step.without;
    const errors = compileWith(textsWithout(step), [at!]);
    expect(errors.map((text) => text.replaceAll("\n", " ")).join("\n")).toContain(message);
  });

  test.each(of("generate"))("by the bundler: $file of $task", async ({ file, without: { message } }) => {
    const text = readFileSync(join(copy, file));
    await rm(join(copy, file));
    const bundled = runProgram("redocly", ["bundle", "openapi/admin.yaml", "--output", "/dev/null"], copy);
    await expect(bundled).rejects.toThrow(message);
    await writeFile(join(copy, file), text);
  });

  const isText = ({ without }: Step) => without.at === "test/portal/texts.test.ts";

  test.each(of("tests").filter(isText))("by the test of texts: $file of $task", async (step) => {
    const frame = join(copy, "src/portal/frame");
    const folder = join(copy, dirname(dirname(step.file)));
    const check = () =>
      checkArea(folder, folder === frame ? { users: globSync(`${copy}/src/portal/*`) } : { shared: [frame] });
    expect(check()).toEqual([]);
    const [[, text]] = textsWithout(step) as [[string, string | null]];
    const file = join(copy, step.file);
    const whole = readFileSync(file);
    await (text === null ? rm(file) : writeFile(file, text));
    expect(check()).toContain(step.without.message);
    await writeFile(file, whole);
  });

  test("by the test of examples", () => {
    const [step] = of("tests").filter((step) => !isText(step));
    const idm = bundleOf("idm");
    const { schema, value } = listExamples(idm).find(({ name }) => name === "goethe")!;
    expect(makeCheck(idm)(schema, value)).toBe("");
    const { shortName: _, ...before } = value as { shortName: string };
    expect(makeCheck(idm)(schema, before)).toContain(step!.without.message);
  });
});

test("an operation without a test is named", () => {
  const admin = bundleOf("admin").document as unknown as OpenApiDocument;
  const { missing } = findUntouched({ admin }, new Set());
  const before = findUntouched({ admin: readDocument(join(bundleFolder, "admin.yaml")) as never }, new Set()).missing;
  const said = missing.filter((line) => !before.includes(line)).map((line) => `no test had this answer: ${line}`);
  expect(said).toEqual([messageOf("An operation", "every operation is tested")]);
});

test("the command line offers the property and its removal", async () => {
  const program = [join(copy, "src/schultor.ts"), "school", "update", "--help"];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: copy });
  expect(stdout).toMatch(/--short-name\b/);
  expect(stdout).toMatch(/--no-short-name\b/);
});

test("no released client breaks, and the changelog asks for an entry", () => {
  for (const name of ["idm", "webhooks", "admin"]) {
    const [before, after] = [bundleFolder, join(copy, "generated/openapi")].map((folder) =>
      readDocument(join(folder, `${name}.yaml`)),
    );
    expect(compareDocuments(before!, after!, { side: name === "webhooks" ? "app" : "service" })).toEqual([]);
  }
  const said = checkChangelog(readChangelog(), findChangedParts(undefined, join(copy, "generated/openapi"))).join("\n");
  expect(said).toContain(messageOf("A property", "changelog"));
  expect(said).toMatch(/idm differs .*\bSchool\b/);
});
