// @module-tag slow
import { execFile, execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, sep } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { packRules } from "../../openapi/tools/pack-rules.ts";
import { listRules } from "../../src/publish/index.ts";

const root = join(import.meta.dirname, "../..");
const rules = join(root, "openapi/rules");
const fixtures = join(rules, "fixtures");

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

/** The examples of a rule's page: fenced blocks whose info string says `keeps` or `breaks`, and which base document. */
async function examplesOf(name: string): Promise<Fixture> {
  const text = await readFile(join(rules, "docs", `${name}.md`), "utf8");
  const example = (kind: string) => new RegExp(`^\`\`\`yaml ${kind} (\\S+)\n([^]*?)^\`\`\``, "m").exec(text);
  const [breaks, keeps] = [example("breaks"), example("keeps")];
  if (!breaks || !keeps || breaks[1] !== keeps[1]) throw new Error(`${name}.md lacks an example`);
  return { base: breaks[1]!, breaks: parse(breaks[2]!) as Json, keeps: parse(keeps[2]!) as Json };
}

type Rule = { documentationUrl: string };
const readRules = async (file: string) =>
  ((await read(join(rules, file))) as { rules: Record<string, Rule | string> }).rules;
const general = await readRules("general.yaml");
const ruleset = { ...(await readRules("schultor.yaml")), ...general };
/** Rules with a body are ours; those that are only a severity belong to the upstream set. */
const ours = Object.keys(ruleset).filter((name) => typeof ruleset[name] === "object");
const names = (await readdir(join(rules, "docs"))).map((name) => basename(name, ".md"));
const bases = (await readdir(join(fixtures, "base"))).map((name) => basename(name, ".yaml"));

type Finding = {
  source: string;
  code: string | number;
  message: string;
  range: { start: { line: number } };
};

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
    const { base, breaks, keeps } = await examplesOf(name);
    const document = (await read(join(fixtures, "base", `${base}.yaml`))) as Json;
    await write(`${name}.breaks`, merged(document, breaks));
    await write(`${name}.keeps`, merged(document, keeps));
  }
  await breakContract(join(folder, "openapi"));
  const pagesOf = (isGeneral: boolean) =>
    names.filter((name) => name in general === isGeneral).map((name) => join(folder, `${name}.*.yaml`));
  const results = await Promise.all([
    lint(pagesOf(true), { ruleset: join(rules, "general.yaml") }),
    lint([...pagesOf(false), ...bases.map((base) => join(folder, `${base}.yaml`)), join(folder, "openapi/idm.yaml")]),
  ]);
  for (const finding of results.flat()) {
    const [document = ""] = relative(folder, finding.source).split(sep);
    findings.get(basename(document, ".yaml"))?.add(String(finding.code));
    found.push(finding);
  }
});
afterAll(() => rm(folder, { recursive: true }));

type Place = { ruleset?: string; cwd?: string };

/** Runs the same program as `npm run lint:openapi`. */
async function lint(globs: string[], place: Place = {}): Promise<Finding[]> {
  return JSON.parse(await runSpectral(globs, "json", place)) as Finding[];
}

function runSpectral(
  globs: string[],
  format: string,
  { ruleset = join(root, ".spectral.yaml"), cwd = root }: Place,
): Promise<string> {
  const program = join(root, "node_modules/.bin/spectral");
  const options = ["lint", ...globs, "--ruleset", ruleset, "--format", format, "--quiet"];
  return new Promise((resolve, reject) => {
    execFile(program, options, { maxBuffer: 1 << 26, cwd }, (error, stdout, stderr) => {
      if (error && error.code !== 1) reject(new Error(stderr || error.message));
      else resolve(stdout);
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

test("every rule of ours has a page, and every page a rule", async () => {
  expect(names.toSorted()).toEqual(ours.toSorted());
  expect((await listRules()).map(({ name }) => name).toSorted()).toEqual(ours.toSorted());
});

test("every rule links to its page", () => {
  const links = Object.entries(ruleset).map(
    ([name, rule]) => typeof rule === "string" || [name, rule.documentationUrl],
  );
  expect(links.filter((link) => link !== true)).toEqual(
    ours.map((name) => [name, `https://login.example.org/docs/rules/${name}`]),
  );
});

test("of the upstream rules only the one that ours replaces is off", () => {
  const off = Object.keys(general).filter((name) => general[name] === "off");
  expect(off).toEqual(["operation-success-response"]);
});

test.each(bases)("the base document %s breaks no rule", (base) => {
  expect(findingsIn(base)).toEqual([]);
});

describe.each(names)("%s", (name) => {
  test("is broken by its example, and nothing else is", () => {
    expect(findingsIn(`${name}.breaks`)).toEqual([name]);
  });
  test("is kept by its example", () => {
    expect(findingsIn(`${name}.keeps`)).toEqual([]);
  });
});

/** A contract of somebody else's, written in another style, that is nevertheless a good one. */
const foreign = `
openapi: 3.1.0
info: { title: Library, version: "3", description: Books and loans., contact: { name: Library } }
servers: [{ url: "https://library.example.org" }]
tags: [{ name: Books, description: What can be borrowed. }]
security: [{ key: [] }]
paths:
  /books/{book_id}:
    parameters:
      - { name: book_id, in: path, required: true, description: The book., schema: { type: integer }, example: 7 }
    get:
      operationId: books_read
      summary: Read a book
      description: One book.
      tags: [Books]
      responses:
        "200":
          description: The book.
          content:
            application/json:
              schema: { $ref: "#/components/schemas/Book" }
              example: { book_id: 7, first_author: null }
        default: { $ref: "#/components/responses/Failed" }
  /books:
    get:
      operationId: books_list
      summary: List books
      description: Every book.
      tags: [Books]
      parameters:
        - { name: title, in: query, description: A part of it., schema: { type: string, maxLength: 100 }, example: Tin }
        - { name: page_size, in: query, description: At most so many., schema: { type: integer }, example: 10 }
      responses:
        "200":
          description: The books.
          content:
            application/json:
              schema: { type: array, items: { $ref: "#/components/schemas/Book" } }
              example: [{ book_id: 7, first_author: null }]
        default: { $ref: "#/components/responses/Failed" }
    post:
      operationId: books_add
      summary: Add a book
      description: A new book.
      tags: [Books]
      requestBody:
        content:
          application/json:
            schema: { $ref: "#/components/schemas/BookInput" }
            example: { first_author: Grass, key_words: [tin] }
      responses:
        "201": { description: It is there. }
        default: { $ref: "#/components/responses/Failed" }
components:
  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }
  responses:
    Failed:
      description: It did not work.
      content:
        application/json: { schema: { $ref: "#/components/schemas/Failure" }, example: { reason: unknown } }
  schemas:
    Book:
      type: object
      required: [book_id]
      properties: { book_id: { type: integer }, first_author: { type: [string, "null"] } }
    BookInput:
      type: object
      properties:
        first_author: { type: [string, "null"], maxLength: 100 }
        key_words: { type: array, maxItems: 20, items: { type: string, enum: [tin, drum] } }
    Failure: { type: object, properties: { reason: { type: string } } }
`;

const failed = { content: { "application/json": { schema: { type: "object" }, example: {} } } };
const describeRead = (responses: Json): Json => ({ paths: { "/books/{book_id}": { get: { responses } } } });
const book = { type: "object" };
const add = (operation: Json): Json => ({ paths: { "/books": { post: operation } } });
const bookInput = (properties: Json): Json => ({ components: { schemas: { BookInput: { properties } } } });
/** What a reviewer's contract may get wrong, as changes of the good one, with the rule that finds it. */
const mistakes: [mistake: string, change: Json, rule: string][] = [
  ["an operation without errors", describeRead({ default: null }), "operation-errors"],
  ["an error without a body", describeRead({ "404": { description: "Unknown." } }), "error-has-body"],
  ["no 401", describeRead({ default: null, "403": failed }), "refusal-documented"],
  ["no 403", describeRead({ default: null, "401": failed }), "refusal-documented"],
  ["a string of any length", bookInput({ first_author: { maxLength: null } }), "request-has-limits"],
  ["an array of any length", bookInput({ key_words: { maxItems: null } }), "request-has-limits"],
  ["a property in another casing", bookInput({ lastAuthor: { type: "boolean" } }), "one-casing"],
  ["an id in another casing", bookInput({ shelfID: { type: "integer" } }), "one-casing"],
  ["an operation id in another casing", add({ operationId: "addBook" }), "one-casing"],
  ["a list without pages", { paths: { "/books": { get: { parameters: [] } } } }, "list-has-limit"],
  ["a summary with a full stop", add({ summary: "Add a book." }), "operation-summary"],
  [
    "a body without an example",
    add({ requestBody: { content: { "application/json": { example: null } } } }),
    "body-example",
  ],
  [
    "a required property that is unknown",
    { components: { schemas: { Book: { required: ["id"] } } } },
    "required-properties",
  ],
  ["a constructor's name", { components: { schemas: { NewBook: book } } }, "generated-names"],
  ["the name of parameters", { components: { schemas: { BooksListRequest: book } } }, "generated-names"],
  [
    "values that differ in punctuation",
    bookInput({ order: { type: "string", enum: ["name", "-name"] } }),
    "distinct-values",
  ],
  ["a set of values", bookInput({ key_words: { uniqueItems: true, items: { enum: ["a", "b"] } } }), "list-of-values"],
  [
    "bytes of some characters",
    bookInput({ cover: { type: "string", format: "binary", minLength: 1 } }),
    "binary-without-length",
  ],
  ["no success", add({ responses: { "201": null } }), "operation-succeeds"],
  ["an operation without tags", add({ tags: null }), "operation-tags"],
  ["an operation without an id", add({ operationId: null }), "operation-operationId"],
];

describe("the package, installed from its tarball elsewhere", () => {
  let place: string;
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), "reviewer-"));
    const installed = join(place, "node_modules/@schultor/spectral-rules");
    await mkdir(installed, { recursive: true });
    const tarball = packRules("https://id.example.net/", place);
    execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  });
  afterAll(() => rm(place, { recursive: true }));

  async function prepare(name: string, extended: string, contract: string): Promise<[string[], Required<Place>]> {
    const ruleset = join(place, `${name}.spectral.yaml`);
    await writeFile(ruleset, stringify({ extends: [extended] }));
    await writeFile(join(place, `${name}.yaml`), contract);
    return [[join(place, `${name}.yaml`)], { ruleset, cwd: place }];
  }
  const review = async (name: string, extended: string, contract: string) =>
    lint(...(await prepare(name, extended, contract)));

  test("the general rules find nothing in a good contract of another style but its way to write addresses", async () => {
    const found = await review("good", "@schultor/spectral-rules", foreign);
    expect(found.map(({ code }) => code)).toEqual(["path-kebab-case"]);
  });

  test("the general rules find its faults, and link to their pages on the service that packed them", async () => {
    const faulty = foreign
      .replaceAll("book_id}", "bookId}")
      .replace("name: book_id", "name: bookId")
      .replace("summary: Read a book", "summary: Read a book.")
      .replace(/ +example: \{ book_id.*\n/, "")
      .replace("[{ book_id: 7", "[{ id: 7")
      .replace("required: [book_id]", "required: [id]");
    const [files, where] = await prepare("faulty", "@schultor/spectral-rules", faulty);
    const found = (await runSpectral(files, "github-actions", where)).trim().split("\n");
    const links = found.map((line) =>
      /title=([\w-]+),.*Documentation: https:\/\/id\.example\.net\/docs\/rules\/(\S+)$/.exec(line),
    );
    const rules = ["body-example", "operation-summary", "required-properties"];
    expect(links.map((link) => link?.slice(1)).toSorted()).toEqual(rules.map((rule) => [rule, rule]));
  });

  test("the general rules find each of these mistakes, and a DELETE with a body", async () => {
    const operation = {
      tags: ["Books"],
      description: "Less.",
      responses: { "204": { description: "Gone." }, default: failed },
    };
    const schema = { $ref: "#/components/schemas/BookInput" };
    const requestBody = { content: { "application/json": { schema, example: {} } } };
    const removal = { ...operation, operationId: "books_delete", summary: "Delete books", requestBody };
    const all = [
      ...mistakes,
      ["a DELETE with a body", { paths: { "/books": { delete: removal } } }, "delete-without-body"],
    ] as const;
    const [, where] = await prepare("mistakes", "@schultor/spectral-rules", foreign);
    const files = all.map((_, index) => join(place, `mistake-${index}.yaml`));
    for (const [index, [, change]] of all.entries())
      await writeFile(files[index]!, stringify(merged(parse(foreign) as Json, change)));
    const found = await lint(files, where);
    const missed = all.filter(
      ([, , rule], index) => !found.some(({ code, source }) => code === rule && source === files[index]),
    );
    expect(missed).toEqual([]);
  });

  test("the rules of Schultor are a set of their own, which a contract of ours follows", async () => {
    const idm = await readFile(join(root, "generated/openapi/idm.yaml"), "utf8");
    expect(await review("idm", "@schultor/spectral-rules/schultor", idm)).toEqual([]);
    const found = await review("other", "@schultor/spectral-rules/schultor", foreign);
    expect(found.map(({ code }) => code)).toContain("openapi-version");
  });
});
