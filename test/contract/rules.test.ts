import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, sep } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";

const root = join(import.meta.dirname, "../..");
const fixtures = join(root, "openapi/rules/fixtures");

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Fixture = { base: string; breaks: Json; keeps: Json };

const read = async (path: string): Promise<unknown> => parse(await readFile(path, "utf8"));

/** A change laid over a document: objects merge, null removes, anything else replaces (RFC 7396). */
function merged(target: Json | undefined, patch: Json): Json {
  if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
  const result = { ...(target !== null && typeof target === "object" && !Array.isArray(target) ? target : {}) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else result[key] = merged(result[key], value);
  }
  return result;
}

const ruleset = (await read(join(root, ".spectral.yaml"))) as { rules: Record<string, unknown> };
/** Rules with a body are ours; those that are only a severity belong to the upstream set. */
const ours = Object.keys(ruleset.rules).filter((name) => typeof ruleset.rules[name] === "object");
const names = (await readdir(fixtures)).filter((name) => name.endsWith(".yaml")).map((name) => basename(name, ".yaml"));
const bases = (await readdir(join(fixtures, "base"))).map((name) => basename(name, ".yaml"));

type Finding = { source: string; code: string | number; message: string; range: { start: { line: number } } };

const findings = new Map<string, Set<string>>();
const found: Finding[] = [];
const findingsIn = (document: string) => [...(findings.get(document) ?? [])].sort();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fixtures-"));
  await cp(join(fixtures, "files"), folder, { recursive: true });
  const write = async (name: string, document: Json) => {
    findings.set(name, new Set());
    await writeFile(join(folder, `${name}.yaml`), stringify(document, { aliasDuplicateObjects: false }));
  };
  for (const base of bases) await write(base, (await read(join(fixtures, "base", `${base}.yaml`))) as Json);
  for (const name of names) {
    const { base, breaks, keeps } = (await read(join(fixtures, `${name}.yaml`))) as Fixture;
    const document = (await read(join(fixtures, "base", `${base}.yaml`))) as Json;
    await write(`${name}.breaks`, merged(document, breaks));
    await write(`${name}.keeps`, merged(document, keeps));
  }
  await breakContract(join(folder, "openapi"));
  for (const finding of await lint([join(folder, "*.yaml"), join(folder, "openapi/idm.yaml")])) {
    const [document = ""] = relative(folder, finding.source).split(sep);
    findings.get(basename(document, ".yaml"))?.add(String(finding.code));
    found.push(finding);
  }
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the same program as `npm run lint:openapi`. */
function lint(globs: string[]): Promise<Finding[]> {
  const program = join(root, "node_modules/.bin/spectral");
  const options = ["lint", ...globs, "--ruleset", join(root, ".spectral.yaml"), "--format", "json", "--quiet"];
  return new Promise((resolve, reject) => {
    execFile(program, options, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error && error.code !== 1) reject(new Error(stderr || error.message));
      else resolve(JSON.parse(stdout) as Finding[]);
    });
  });
}

/** The contract itself, in its many files, with faults in four of them. */
async function breakContract(copy: string): Promise<void> {
  await cp(join(root, "openapi"), copy, { recursive: true, filter: (path) => !path.includes("openapi/rules") });
  const edit = async (file: string, change: (text: string) => string) => {
    const text = await readFile(join(copy, file), "utf8");
    const edited = change(text);
    expect(edited, file).not.toBe(text);
    await writeFile(join(copy, file), edited);
  };
  await edit("idm/getGroup.yaml", (text) => text.replace(/ {2}'404':\n.*\n/, ""));
  await edit("idm/listSchools.yaml", (text) => text.replace(/ {2}- \$ref: .*Cursor\.yaml\n/, ""));
  await edit("idm/getUser.yaml", (text) => text.replace("operationId: getUser", "operationId: getPupil"));
  await edit("schemas/SchoolAddress.yaml", (text) => text.replace(/required: \[/, "required: [phone, "));
}

test.each([
  ["idm-statuses", "openapi/idm/getGroup.yaml", "Status 404 is not documented."],
  ["lists-can-be-paged", "openapi/idm/listSchools.yaml", "The parameter cursor is missing."],
  ["operation-file-name", "openapi/idm/getUser.yaml", "getUser.yaml holds the operation getPupil."],
  ["required-properties", "openapi/schemas/SchoolAddress.yaml", "phone is required and has no property."],
])("%s says what is wrong, and where", (rule, file, message) => {
  const [finding, another] = found.filter(({ code, source }) => code === rule && source === join(folder, file));
  expect(another).toBeUndefined();
  expect(finding?.message).toBe(message);
  const firstLine = rule === "operation-file-name" ? 0 : 1;
  expect(finding?.range.start.line).toBeGreaterThanOrEqual(firstLine);
});

test("every rule of ours has a fixture, and every fixture a rule", () => {
  expect(names.toSorted()).toEqual(ours.toSorted());
});

test("of the upstream rules only the one that ours replaces is off", () => {
  const off = Object.keys(ruleset.rules).filter((name) =>
    [false, "off"].includes(ruleset.rules[name] as string | boolean),
  );
  expect(off).toEqual(["operation-success-response"]);
});

test.each(bases)("the base document %s breaks no rule", (base) => {
  expect(findingsIn(base)).toEqual([]);
});

describe.each(names)("%s", (name) => {
  test("is broken by its fixture, and nothing else is", () => {
    expect(findingsIn(`${name}.breaks`)).toEqual([name]);
  });
  test("is kept by its fixture", () => {
    expect(findingsIn(`${name}.keeps`)).toEqual([]);
  });
});
