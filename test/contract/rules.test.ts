// @module-tag slow
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, sep } from "node:path";
import express from "express";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { makePublishRouter, readRuleSets } from "../../src/publish/index.ts";
import { serve } from "../support/serve.ts";
import { change, rowsOf } from "./contract-changes.ts";

const root = join(import.meta.dirname, "../..");
const rules = join(root, "openapi/rules");
const fixtures = join(rules, "fixtures");

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

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
async function examplesOf(name: string): Promise<{ base: string; breaks: Json; keeps: Json }> {
  const text = await readFile(join(rules, "docs", `${name}.md`), "utf8");
  const example = (kind: string) => new RegExp(`^\`\`\`yaml ${kind} (\\S+)\n([^]*?)^\`\`\``, "m").exec(text);
  const [breaks, keeps] = [example("breaks"), example("keeps")];
  if (!breaks || !keeps || breaks[1] !== keeps[1]) throw new Error(`${name}.md lacks an example`);
  return { base: breaks[1]!, breaks: parse(breaks[2]!) as Json, keeps: parse(keeps[2]!) as Json };
}

type Rule = { documentationUrl: string };
const readRules = async (file: string) =>
  ((await read(join(rules, file))) as { rules: Record<string, Rule | string> }).rules;
const generalRules = await readRules("general.yaml");
const ruleset = { ...(await readRules("schultor.yaml")), ...generalRules };
/** Rules with a body are ours; those that are only a severity belong to the upstream set. */
const ours = Object.keys(ruleset).filter((name) => typeof ruleset[name] === "object");
const names = (await readdir(join(rules, "docs"))).map((name) => basename(name, ".md"));
const bases = (await readdir(join(fixtures, "base"))).map((name) => basename(name, ".yaml"));

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

/** What a reviewer's contract may get wrong, as changes of the good one, with the rule that finds it. */
const mistakes = rowsOf(`
an operation without errors | paths./books/{book_id}.get.responses.default - | operation-errors
an error without a body | paths./books/{book_id}.get.responses.404 = { description: Unknown. } | error-has-body
no 401 | paths./books/{book_id}.get.responses = { "200": OK, "403": FAILED } | refusal-documented
no 403 | paths./books/{book_id}.get.responses = { "200": OK, "401": FAILED } | refusal-documented
a string of any length | schemas.BookInput.properties.first_author.maxLength - | request-has-limits
an array of any length | schemas.BookInput.properties.key_words.maxItems - | request-has-limits
one name in two spellings | schemas.BookInput.properties.bookid = { type: boolean } | one-casing
a property in another casing | schemas.BookInput.properties.lastAuthor = { type: boolean } | one-casing
an id in another casing | schemas.BookInput.properties.shelfID = { type: integer } | one-casing
an operation id in another casing | paths./books.post.operationId = addBook | one-casing
a list without pages | paths./books.get.parameters = [] | list-has-limit
a summary with a full stop | paths./books.post.summary = Add a book. | operation-summary
a body without an example | paths./books.post.requestBody.content.application/json.example - | body-example
a required property that is unknown | schemas.Book.required = [id] | required-properties
a constructor's name | schemas.NewBook = { type: object } | generated-names
the name of parameters | schemas.BooksListRequest = { type: object } | generated-names
values that differ in punctuation | schemas.BookInput.properties.order = { type: string, enum: [name, -name] } | distinct-values
a set of values | schemas.BookInput.properties.key_words.uniqueItems = true | list-of-values
bytes of some characters | schemas.BookInput.properties.cover = { type: string, format: binary, minLength: 1 } | binary-without-length
a DELETE with a body | paths./books.delete = @paths./books.post | delete-without-body
no success | paths./books.post.responses.201 - | operation-succeeds
an operation without tags | paths./books.post.tags - | operation-tags
an operation without an id | paths./books.post.operationId - | operation-operationId
`).map(([mistake, changes = "", rule = ""]) => {
  const document = parse(foreign) as object;
  change(
    document,
    changes.replace("OK", "{ description: Good. }").replace("FAILED", '{ $ref: "#/components/responses/Failed" }'),
  );
  return { mistake, document, rule };
});

type Finding = { source: string; code: string | number; message: string; range: { start: { line: number } } };

let folder: string;
let found: Finding[];
/** The address of the rules for any contract. */
let general: string;
/** A finding in a file that a document refers to is one of the document. */
const documentOf = ({ source }: Finding) => basename(relative(folder, source).split(sep)[0]!, ".yaml");
const codesIn = (document: string) =>
  [...new Set(found.filter((finding) => documentOf(finding) === document).map(({ code }) => code))].sort();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rules-"));
  await cp(join(fixtures, "files"), folder, { recursive: true });
  await readRulesOf("https://id.example.net");
  const write = async (name: string, document: Json) => {
    const file = join(folder, `${name}.yaml`);
    await writeFile(file, stringify(document, { aliasDuplicateObjects: false }));
    return file;
  };
  const files: Record<"general" | "own", string[]> = { general: [], own: [] };
  for (const base of bases)
    files.own.push(await write(base, (await read(join(fixtures, "base", `${base}.yaml`))) as Json));
  for (const name of names) {
    const { base, breaks, keeps } = await examplesOf(name);
    const document = (await read(join(fixtures, "base", `${base}.yaml`))) as Json;
    const lists = files[name in generalRules ? "general" : "own"];
    lists.push(
      await write(`${name}.breaks`, merged(document, breaks)),
      await write(`${name}.keeps`, merged(document, keeps)),
    );
  }
  for (const [index, { document }] of mistakes.entries())
    files.general.push(await write(`mistake-${index}`, document as Json));
  files.general.push(await write("good", parse(foreign) as Json));
  for (const name of await readdir(join(fixtures, "foreign"))) {
    await cp(join(fixtures, "foreign", name), join(folder, `foreign-${name}`));
    files.general.push(join(folder, `foreign-${name}`));
  }
  found = (
    await Promise.all([lint(files.own, join(root, ".spectral.yaml"), root), lint(files.general, general)])
  ).flat();
});
afterAll(() => rm(folder, { recursive: true }));

/** The rules as a partner has them: those for any contract by their address, the others from a file. */
async function readRulesOf(issuerUrl: string): Promise<void> {
  const place = { platform: "nordlicht", baseUrl: issuerUrl, issuerUrl };
  const withoutPkce = { deprecatedAt: new Date(), sunsetAt: new Date() };
  const packages = { repository: null, licence: "UNLICENSED" };
  const router = makePublishRouter({ ...place, withoutPkce, packages, isReady: async () => true });
  const url = await serve(express().disable("etag").use(router));
  general = `${url}/downloads/spectral-rules.js`;
  const own = await fetch(`${url}/downloads/spectral-rules-schultor.js`);
  expect(own.headers.get("content-type")).toMatch(/^text\/javascript/);
  await writeFile(join(folder, "schultor.js"), await own.text());
}

const lint = async (...place: [files: string[], ruleset: string, cwd?: string]): Promise<Finding[]> =>
  JSON.parse(await runSpectral("json", ...place)) as Finding[];

/** Runs the same program as `npm run lint:openapi`. */
function runSpectral(format: string, files: string[], ruleset: string, cwd = folder): Promise<string> {
  const options = ["lint", ...files, "--ruleset", ruleset, "--format", format, "--quiet"];
  return new Promise((resolve, reject) => {
    execFile(
      join(root, "node_modules/.bin/spectral"),
      options,
      { maxBuffer: 1 << 26, cwd },
      (error, stdout, stderr) => {
        if (error && error.code !== 1) reject(new Error(stderr || error.message));
        else resolve(stdout);
      },
    );
  });
}

test("a finding says what is wrong, and where", () => {
  const said = ["idm-statuses", "lists-can-be-paged", "operation-file-name", "required-properties"].map((rule) => {
    const { source, message, range } = found.find((one) => one.code === rule && documentOf(one) === `${rule}.breaks`)!;
    return `${relative(folder, source)}:${range.start.line + 1} ${message}`;
  });
  expect(said).toMatchInlineSnapshot(`
    [
      "idm-statuses.breaks.yaml:94 Status 404 is not documented.",
      "lists-can-be-paged.breaks.yaml:24 The parameter cursor is missing.",
      "operation-file-name.breaks/getPrincipal.yaml:2 getPrincipal.yaml holds the operation getHeadTeacher.",
      "required-properties.breaks.yaml:200 detail is required and has no property.",
    ]
  `);
});

test("every rule of ours has a page, and links to it; of the upstream rules only the one that ours replaces is off", async () => {
  expect(names.toSorted()).toEqual(ours.toSorted());
  expect(
    (await readRuleSets())
      .flatMap(({ rules }) => rules)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(ours.toSorted());
  const links = ours.map((name) => (ruleset[name] as Rule).documentationUrl);
  expect(links).toEqual(ours.map((name) => `https://login.example.org/docs/rules/${name}`));
  expect(Object.keys(generalRules).filter((name) => generalRules[name] === "off")).toEqual([
    "operation-success-response",
  ]);
});

test("the base documents break no rule; the examples of each rule break it alone, or none", () => {
  expect(bases.map((base) => [base, codesIn(base)])).toEqual(bases.map((base) => [base, []]));
  const outcome = names.map((name) => [name, codesIn(`${name}.breaks`), codesIn(`${name}.keeps`)]);
  expect(outcome).toEqual(names.map((name) => [name, [name], []]));
});

test("in a good contract of another style the general rules find nothing, and every mistake", () => {
  expect(codesIn("good")).toEqual([]);
  const missed = mistakes.filter(({ rule }, index) => !codesIn(`mistake-${index}`).includes(rule));
  expect(missed.map(({ mistake }) => mistake)).toEqual([]);
});

test("in contracts of others the general rules find what is wrong with them, and nothing of their style", async () => {
  const names = (await readdir(join(fixtures, "foreign"))).map((name) => basename(name, ".yaml"));
  expect(Object.fromEntries(names.map((name) => [name, codesIn(`foreign-${name}`)]))).toEqual({
    github: ["delete-without-body"],
    museum: [],
    oneroster: ["one-casing"],
    petstore: [
      ...["body-example", "error-has-body", "list-has-limit", "operation-errors", "operation-summary"],
      ...["parameter-example", "refusal-documented", "request-has-limits"],
    ],
    schulconnex: ["list-has-limit"],
    stripe: [],
  });
});

test("the rules link to the pages on the service that packed it", async () => {
  const faulty = foreign
    .replace("summary: Read a book", "summary: Read a book.")
    .replace("required: [book_id]", "required: [book_id, id]")
    .replace(/ +example: \{ book_id.*\n/, "");
  await writeFile(join(folder, "faulty.yaml"), faulty);
  const text = await runSpectral("github-actions", ["faulty.yaml"], general);
  const link = /title=([\w-]+),.*Documentation: https:\/\/id\.example\.net\/docs\/rules\/(\S+)$/gm;
  const rules = ["body-example", "operation-summary", "required-properties"];
  expect([...text.matchAll(link)].map(([, ...names]) => names).toSorted()).toEqual(
    expect.arrayContaining(rules.map((rule) => [rule, rule])),
  );
});

test("the rules of Schultor are a set of their own, which a contract of ours follows", async () => {
  const all = await lint([`${bases[0]!}.yaml`, "good.yaml"], "schultor.js");
  expect(all.filter((finding) => documentOf(finding) === bases[0])).toEqual([]);
  expect(all.map(({ code }) => code)).toContain("openapi-version");
});
