/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-member-access,
   @typescript-eslint/no-unsafe-call --
   planted changes reach into a document as a careless hand would */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { parse, stringify } from "yaml";
import { acceptedDifferences } from "../../openapi/tools/accepted-differences.ts";
import { checkReleases } from "../../openapi/tools/breaking.ts";
import { compareDocuments } from "../../openapi/tools/compare-documents.ts";
import { bundleFolder, readDocument, releasedFolder, type Document } from "../../openapi/tools/document.ts";

const released = `
paths:
  /people/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string, format: uuid } }
    get:
      operationId: getPerson
      security: [{ app: [people:read] }]
      parameters:
        - { name: lang, in: query, style: form, schema: { type: string, nullable: true, enum: [de, en], default: de } }
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 100 } }
        - { name: since, in: query, schema: { type: string } }
      responses:
        "200":
          headers: { ETag: { schema: { type: string } } }
          content: { application/json: { schema: { $ref: "#/components/schemas/Person" } } }
        "404": { content: { application/json: { schema: { $ref: "#/components/schemas/Problem" } } } }
    put:
      operationId: replacePerson
      security: [{ app: [people:write] }]
      requestBody:
        required: false
        content:
          application/json: { schema: { $ref: "#/components/schemas/NewPerson" } }
          application/xml: { schema: { $ref: "#/components/schemas/NewPerson" } }
      responses: { "204": { description: Done } }
components:
  securitySchemes: { app: { type: oauth2, flows: { clientCredentials: { scopes: {} } } } }
  schemas:
    Name: { type: object, required: [last], properties: { first: { type: string }, last: { type: string } } }
    Pupil: { type: object, properties: { kind: { type: string } } }
    Teacher: { type: object, properties: { kind: { type: string } } }
    Token: { type: object, required: [sub], properties: { sub: { type: string } } }
    Problem: { type: object, properties: { message: { type: string } } }
    Person:
      type: object
      required: [id, role]
      properties:
        id: { type: string, format: uuid }
        role: { type: string, enum: [STUDENT, TEACHER] }
        age: { type: integer, maximum: 150 }
        nick: { type: string, nullable: true }
        name: { type: object, nullable: true, allOf: [{ $ref: "#/components/schemas/Name" }] }
        friends: { type: array, items: { $ref: "#/components/schemas/Person" } }
        is: { oneOf: [{ $ref: "#/components/schemas/Pupil" }, { $ref: "#/components/schemas/Teacher" }] }
        marks: { type: object, additionalProperties: { type: integer } }
    NewPerson:
      type: object
      required: [last]
      properties:
        last: { type: string, maxLength: 100 }
        nick: { type: string, nullable: true }
        role: { type: string, enum: [STUDENT, TEACHER] }
        age: { type: number }
        note: { type: string }
`;

type Loose = any;
type Change = (document: Loose) => unknown;
const person = (document: Loose) => document.components.schemas.Person;
const input = (document: Loose) => document.components.schemas.NewPerson;
const path = (document: Loose) => document.paths["/people/{id}"];
const parameter = (document: Loose, index: number) => path(document).get.parameters[index];

/** Each wrong change and the one break that it is: what, where. */
const planted: [kind: string, where: string, change: Change][] = [
  ["path-removed", "/people/{id}", (d) => delete d.paths["/people/{id}"]],
  ["operation-removed", "PUT /people/{id}", (d) => delete path(d).put],
  ["operation-id-changed", "GET /people/{id}", (d) => (path(d).get.operationId = "findPerson")],
  ["security-changed", "GET /people/{id}", (d) => (path(d).get.security = [{ app: ["users:read"] }])],
  ["security-changed", "GET /people/{id}", (d) => path(d).get.security[0].app.push("more:read")],
  ["security-scheme-changed", "app", (d) => (d.components.securitySchemes.app = { type: "http", scheme: "basic" })],
  ["parameter-removed", "GET /people/{id} query since", (d) => path(d).get.parameters.pop()],
  ["parameter-required", "GET /people/{id} query since", (d) => (parameter(d, 2).required = true)],
  [
    "parameter-required",
    "GET /people/{id} header X-New",
    (d) => path(d).get.parameters.push({ name: "X-New", in: "header", required: true, schema: { type: "string" } }),
  ],
  ["parameter-style-changed", "GET /people/{id} query lang", (d) => (parameter(d, 0).style = "deepObject")],
  ["default-changed", "GET /people/{id} query lang", (d) => (parameter(d, 0).schema.default = "en")],
  ["enum-value-removed", "GET /people/{id} query lang", (d) => parameter(d, 0).schema.enum.shift()],
  ["enum-value-removed", "GET /people/{id} query since", (d) => (parameter(d, 2).schema.enum = ["today"])],
  ["nullability-changed", "GET /people/{id} query lang", (d) => delete parameter(d, 0).schema.nullable],
  ["type-changed", "GET /people/{id} query since", (d) => (parameter(d, 2).schema = { type: "integer" })],
  ["format-changed", "GET /people/{id} query since", (d) => (parameter(d, 2).schema.format = "date")],
  ["limit-changed", "GET /people/{id} query limit", (d) => (parameter(d, 1).schema.maximum = 50)],
  ["limit-changed", "GET /people/{id} query since", (d) => (parameter(d, 2).schema.pattern = "^2")],
  ["status-removed", "GET /people/{id} 404", (d) => delete path(d).get.responses["404"]],
  ["success-added", "GET /people/{id} 202", (d) => (path(d).get.responses["202"] = { description: "Later" })],
  ["header-removed", "GET /people/{id} 200 ETag", (d) => delete path(d).get.responses["200"].headers],
  [
    "media-type-removed",
    "GET /people/{id} 200 application/json",
    (d) => (path(d).get.responses["200"].content = { "application/xml": {} }),
  ],
  [
    "media-type-removed",
    "PUT /people/{id} body application/xml",
    (d) => delete path(d).put.requestBody.content["application/xml"],
  ],
  ["body-required", "PUT /people/{id} body", (d) => (path(d).put.requestBody.required = true)],
  ["property-removed", "GET /people/{id} 200.nick", (d) => delete person(d).properties.nick],
  ["property-removed", "GET /people/{id} 200.name.first", (d) => delete d.components.schemas.Name.properties.first],
  [
    "property-removed",
    "GET /people/{id} 200.marks.*",
    (d) => (person(d).properties.marks.additionalProperties = false),
  ],
  ["property-removed", "PUT /people/{id} body.note", (d) => delete input(d).properties.note],
  ["property-optional", "GET /people/{id} 200.role", (d) => person(d).required.pop()],
  ["property-required", "PUT /people/{id} body.nick", (d) => input(d).required.push("nick")],
  ["type-changed", "GET /people/{id} 200.age", (d) => (person(d).properties.age.type = "number")],
  ["type-changed", "GET /people/{id} 200.friends[]", (d) => (person(d).properties.friends.items = { type: "string" })],
  ["type-changed", "GET /people/{id} 200.nick", (d) => delete person(d).properties.nick.type],
  ["type-changed", "PUT /people/{id} body.age", (d) => (input(d).properties.age.type = "integer")],
  ["format-changed", "GET /people/{id} 200.id", (d) => delete person(d).properties.id.format],
  ["nullability-changed", "GET /people/{id} 200.role", (d) => (person(d).properties.role.nullable = true)],
  ["nullability-changed", "PUT /people/{id} body.nick", (d) => delete input(d).properties.nick.nullable],
  ["enum-value-removed", "GET /people/{id} 200.role", (d) => person(d).properties.role.enum.pop()],
  ["enum-value-added", "GET /people/{id} 200.role", (d) => person(d).properties.role.enum.push("OTHER")],
  ["enum-value-added", "GET /people/{id} 200.role", (d) => delete person(d).properties.role.enum],
  ["limit-changed", "GET /people/{id} 200.age", (d) => delete person(d).properties.age.maximum],
  ["limit-changed", "PUT /people/{id} body.last", (d) => (input(d).properties.last.maxLength = 50)],
  ["object-closed", "PUT /people/{id} body", (d) => (input(d).additionalProperties = false)],
  ["alternative-changed", "GET /people/{id} 200.is", (d) => person(d).properties.is.oneOf.push({ type: "string" })],
  ["property-removed", "Token.sub", (d) => (d.components.schemas.Token = { type: "object" })],
  ["schema-removed", "Token", (d) => delete d.components.schemas.Token],
  ["unknown-change", "GET /people/{id} 200.nick", (d) => (person(d).properties.nick.not = { enum: ["x"] })],
];

/** Changes that no app notices. */
const harmless: [claim: string, change: Change][] = [
  ["nothing changes", () => null],
  ["a path is added", (d) => (d.paths["/schools"] = { get: { operationId: "listSchools", responses: {} } })],
  [
    "an optional parameter is added",
    (d) => path(d).get.parameters.push({ name: "q", in: "query", schema: { type: "string" } }),
  ],
  ["a parameter moves from the operation to its path", (d) => path(d).parameters.push(path(d).get.parameters.pop())],
  ["a field is added to what apps read", (d) => (person(d).properties.email = { type: "string" })],
  ["an optional field is added to what apps send", (d) => (input(d).properties.email = { type: "string" })],
  ["a field that apps send may be left out", (d) => (input(d).required = [])],
  ["a field that apps read is always there now", (d) => person(d).required.push("nick")],
  ["what apps read is never null now", (d) => delete person(d).properties.nick.nullable],
  ["what apps send may be null now", (d) => (input(d).properties.last.nullable = true)],
  ["what apps read gets narrower", (d) => (person(d).properties.age.maximum = 120)],
  ["what apps read gets a format", (d) => (person(d).properties.nick.format = "email")],
  ["what apps send gets wider", (d) => (input(d).properties.last.maxLength = 200)],
  ["one more enum value may be sent", (d) => input(d).properties.role.enum.push("OTHER")],
  ["an error status is added", (d) => (path(d).get.responses["429"] = { description: "Slow down" })],
  ["a scope is no longer asked for", (d) => (path(d).get.security[0].app = [])],
  ["another way in is added", (d) => path(d).get.security.push({ other: [] })],
  [
    "a schema is named another way",
    (d) => {
      d.components.schemas.Human = person(d);
      path(d).get.responses["200"].content["application/json"].schema.$ref = "#/components/schemas/Human";
    },
  ],
  ["words change", (d) => (person(d).description = "Somebody")],
];

function breaksOf(change: Change): string[] {
  const document: Loose = parse(released);
  change(document);
  const found = compareDocuments(parse(released) as Document, document as Document);
  return found.map(({ kind, where }) => `${kind} ${where}`);
}

test.each(planted)("%s is found at %s", (kind, where, change) => {
  expect(breaksOf(change)).toEqual([`${kind} ${where}`]);
});

test.each(harmless)("no break when %s", (_claim, change) => {
  expect(breaksOf(change)).toEqual([]);
});

test("every kind of break is planted once at least", async () => {
  const tools = join(import.meta.dirname, "../../openapi/tools");
  const text = (
    await Promise.all(["compare-documents.ts", "compare-schemas.ts"].map((name) => readFile(join(tools, name), "utf8")))
  ).join("");
  const kinds = new Set([...text.matchAll(/report\("([a-z-]+)"/g)].map((match) => match[1]));
  expect([...new Set(planted.map(([kind]) => kind))].toSorted()).toEqual([...kinds].toSorted());
});

const folders: string[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "released-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

test("the check fails when nothing was released, and when a released document is gone", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const empty = await folderWith({});
  expect(checkReleases(empty, empty)).toBe(1);
  expect(checkReleases(join(empty, "missing"), empty)).toBe(1);
  expect(checkReleases(await folderWith({ "idm.yaml": released }), empty)).toBe(1);
  expect(log.mock.calls.at(-1)?.[0]).toMatch(/document-removed/);
});

test("the check counts what breaks in all documents", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const document: Loose = parse(released);
  delete document.paths["/people/{id}"].put;
  const before = await folderWith({ "idm.yaml": released, "schulconnex.yaml": released });
  const after = await folderWith({ "idm.yaml": stringify(document), "schulconnex.yaml": stringify(document) });
  expect(checkReleases(before, after)).toBe(2);
  await cp(before, after, { recursive: true });
  expect(checkReleases(before, after)).toBe(0);
});

test("every difference that is accepted is one, so that none is accepted for longer than it is there", () => {
  for (const [name, accepted] of Object.entries(acceptedDifferences)) {
    const [before, after] = [releasedFolder, bundleFolder].map((folder) => readDocument(join(folder, `${name}.yaml`)));
    const found = compareDocuments(before!, after!).map(({ kind, where }) => `${kind}: ${where}`);
    expect(accepted.filter((difference) => !found.includes(difference))).toEqual([]);
  }
});
