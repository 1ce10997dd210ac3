// @module-tag slow
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { generateContracts } from "../../openapi/tools/generate-contracts.ts";
import { readContract } from "../../src/sign-on/protocol/contract.ts";
import type { OpenApiDocument } from "../../src/platform/http/index.ts";

// Changes the YAML of every document in every way, generates from it, and asks the compiler: each change is an error of
// its own.
const project = join(import.meta.dirname, "..", "..");

type Yaml = Record<string, unknown> & {
  properties: Record<string, unknown>;
  required?: string[];
  parameters?: unknown[];
  enum: string[];
  paths: Record<string, unknown>;
};
type Place = { file: string; name: string; at: string };
/** `says` is what stands in the compiler's error, `at` the file that it names. */
type Plant = Place & { document: string; kind: Kind; says: string; change: (yaml: Yaml) => void };

const kinds = ["required property", "required parameter", "enum value", "operation", "removed property"] as const;
type Kind = (typeof kinds)[number];
const documents = ["idm", "schulconnex", "sign-on", "webhooks", "admin"];

type Places = Record<Kind, Place>;
const places: Record<string, Places & { in: "query" | "header"; path: string; method: "get" | "post" }> = {
  idm: {
    "required property": { file: "schemas/School.yaml", name: "plantedName", at: "idm/records.ts" },
    "required parameter": { file: "idm/listSchools.yaml", name: "planted-parameter", at: "idm/contract.ts" },
    "enum value": { file: "schemas/PersonRole.yaml", name: "PLANTED", at: "idm/contract.ts" },
    operation: { file: "idm.yaml", name: "getPlanted", at: "idm/index.ts" },
    "removed property": { file: "schemas/SchoolAddress.yaml", name: "zipCode", at: "idm/records.ts" },
    in: "query",
    path: "/idm/ep/v1/planted",
    method: "get",
  },
  schulconnex: {
    "required property": { file: "schemas/Anschrift.yaml", name: "geplant", at: "schulconnex/records.ts" },
    "required parameter": {
      file: "schulconnex/listPersonenInfo.yaml",
      name: "geplant.id",
      at: "schulconnex/contract.ts",
    },
    "enum value": { file: "schemas/Gruppentyp.yaml", name: "Geplant", at: "schulconnex/contract.ts" },
    operation: { file: "schulconnex.yaml", name: "getGeplant", at: "schulconnex/index.ts" },
    "removed property": { file: "schemas/Gruppe.yaml", name: "bezeichnung", at: "schulconnex/records.ts" },
    in: "query",
    path: "/idm/schulconnex/v1/geplant",
    method: "get",
  },
  "sign-on": {
    "required property": {
      file: "schemas/TokenResponse.yaml",
      name: "tenant",
      at: "sign-on/protocol/provider/answers.ts",
    },
    "required parameter": {
      file: "sign-on/authorize.yaml",
      name: "planted_parameter",
      at: "sign-on/protocol/contract.ts",
    },
    "enum value": { file: "schemas/GrantType.yaml", name: "planted_grant", at: "sign-on/protocol/contract.ts" },
    operation: { file: "sign-on.yaml", name: "getTenant", at: "sign-on/protocol/contract.ts" },
    "removed property": { file: "schemas/Introspection.yaml", name: "sid", at: "sign-on/protocol/provider/answers.ts" },
    in: "query",
    path: "/oauth2/tenant",
    method: "get",
  },
  webhooks: {
    "required property": { file: "schemas/PersonEvent.yaml", name: "plantedName", at: "webhooks/payload.ts" },
    "required parameter": {
      file: "webhooks/receivePersonEvent.yaml",
      name: "X-EP-Planted",
      at: "webhooks/signature.ts",
    },
    "enum value": { file: "schemas/PersonEventProperty.yaml", name: "planted", at: "webhooks/contract.ts" },
    operation: { file: "webhooks.yaml", name: "receivePlantedEvent", at: "webhooks/contract.ts" },
    "removed property": { file: "schemas/GroupEvent.yaml", name: "updatedProperties", at: "webhooks/payload.ts" },
    in: "header",
    path: "/webhooks/planted",
    method: "post",
  },
  admin: {
    "required property": { file: "schemas/Me.yaml", name: "plantedName", at: "admin/staff.ts" },
    "required parameter": { file: "admin/listAudit.yaml", name: "planted-parameter", at: "admin/contract.ts" },
    "enum value": { file: "schemas/StaffRoleName.yaml", name: "PLANTED", at: "admin/contract.ts" },
    operation: { file: "admin.yaml", name: "getPlantedOfStaff", at: "admin/rights.ts" },
    "removed property": { file: "schemas/AuditLine.yaml", name: "schoolId", at: "admin/audit.ts" },
    in: "query",
    path: "/admin/v1/planted",
    method: "get",
  },
};

// Records that are built out of an object which they share with others, and a form that may have other fields too.
const surplus = (name: string) => `"${name} is not in the contract"`;
const moreRemoved = [
  { document: "idm", schema: "Person", name: "groups", at: "idm/records.ts", says: surplus },
  { document: "idm", schema: "ListedPerson", name: "sourceSystemIdentifier", at: "idm/records.ts", says: surplus },
  { document: "idm", schema: "Group", name: "name", at: "idm/records.ts", says: surplus },
  { document: "idm", schema: "ListedGroup", name: "id", at: "idm/records.ts", says: surplus },
  {
    document: "sign-on",
    schema: "TokenForm",
    name: "token_type_hint",
    at: "sign-on/protocol/contract.ts",
    says: (name: string) => `'${name}' does not exist in type`,
  },
];

const plants = documents.flatMap((document): Plant[] => {
  const place = places[document]!;
  const schema = { type: "string", description: "Planted." };
  const changes: Record<Kind, (yaml: Yaml, name: string) => void> = {
    "required property": (yaml, name) => {
      yaml.properties[name] = schema;
      yaml.required = [...(yaml.required ?? []), name];
    },
    "required parameter": (yaml, name) => {
      const parameter = { name, in: place.in, required: true, description: "Planted.", schema, example: "x" };
      yaml.parameters = [...(yaml.parameters ?? []), parameter];
    },
    "enum value": (yaml, name) => void yaml.enum.push(name),
    operation: (yaml, name) => {
      const responses = { "200": { description: "Planted." } };
      yaml.paths[place.path] = { [place.method]: { operationId: name, summary: "Planted", security: [], responses } };
    },
    "removed property": (yaml, name) => {
      Reflect.deleteProperty(yaml.properties, name);
      if (yaml.required) yaml.required = yaml.required.filter((other) => other !== name);
    },
  };
  const given = kinds.map((kind) => ({ kind, ...place[kind], says: place[kind].name }));
  for (const { schema, name, at, says } of moreRemoved.filter((more) => more.document === document))
    given.push({ kind: "removed property", file: `schemas/${schema}.yaml`, name, at, says: says(name) });
  return given.map((plant) => ({ document, ...plant, change: (yaml) => changes[plant.kind](yaml, plant.name) }));
});

let copy: string;
/** The errors of the compiler, each with the file that it names. */
let errors: string[] = [];

beforeAll(async () => {
  await mkdir(join(project, ".cache"), { recursive: true });
  copy = await mkdtemp(join(project, ".cache", "planted-"));
  for (const source of ["openapi", "src", "package.json"])
    await cp(join(project, source), join(copy, source), { recursive: true });
  await mkdir(join(copy, "generated"));
  for (const kept of ["prisma", "tables"])
    await symlink(join(project, "generated", kept), join(copy, "generated", kept));
  await symlink(join(project, "node_modules"), join(copy, "node_modules"));
  for (const { file, change } of plants) {
    const path = join(copy, "openapi", file);
    const yaml = parse(await readFile(path, "utf8")) as Yaml;
    change(yaml);
    await writeFile(path, stringify(yaml));
  }
  await generateContracts(copy);
  const indexes = documents.map((name) => `src/${name}/index.ts`);
  const files = [...new Set([...indexes, ...plants.map(({ at }) => `src/${at}`)])];
  await writeFile(
    join(copy, "tsconfig.json"),
    JSON.stringify({ extends: join(project, "tsconfig.json"), files, include: [] }),
  );
  errors = (await compile()).split(/^(?=src\/)/m);
});
afterAll(() => rm(copy, { recursive: true, force: true }));

function compile(): Promise<string> {
  const program = join(project, "node_modules/typescript/bin/tsc");
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "-p", copy, "--pretty", "false"],
      { cwd: copy, maxBuffer: 1 << 26 },
      (_, stdout) => resolve(stdout),
    );
  });
}

test("a change of every kind is planted in every document", () => {
  expect(new Set(plants.map(({ document, kind }) => `${document}: ${kind}`)).size).toBe(
    documents.length * kinds.length,
  );
});

test.each(plants)("in $document, a $kind ($name of $file) does not compile", ({ says, at }) => {
  expect(errors.filter((error) => error.startsWith(`src/${at}(`) && error.includes(says))).not.toEqual([]);
});

test("nothing else fails to compile", () => {
  const planted = plants.map(({ at }) => at);
  const other = errors.filter((error) => /^src\//.test(error) && !planted.some((at) => error.startsWith(`src/${at}(`)));
  expect(other.filter((error) => !plants.some(({ name }) => error.includes(name)))).toEqual([]);
});

test("what the compiler cannot see of sign-on keeps the service from starting", async () => {
  const given = await readFile(join(copy, "generated/openapi/sign-on.yaml"), "utf8");
  expect(() => readContract(parse(given) as OpenApiDocument)).toThrow(
    "differ in the operations. Only in the contract: getTenant.",
  );
});
