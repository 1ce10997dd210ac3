import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import type { Document } from "../../openapi/tools/document.ts";
import { generateCode } from "../../openapi/tools/generator.ts";
import { fieldsOf, findLosses, type Models } from "./fields.ts";
import { ask, buildDriver, languages, made } from "./languages.ts";
import { bundles, documentOf } from "./scenario.ts";

/** The contract of the IDM API with a loss of every kind in it. */
function spoil(document: Document): Document {
  const spoilt = structuredClone(document);
  const schemas = spoilt.components!.schemas!;
  for (const [model, name] of [
    ["User", "status"],
    ["Change", "at"],
    ["Person", "sourceSystemIdentifier"],
  ] as const)
    schemas[model]!.properties![name] = { type: "string" };
  Reflect.deleteProperty(schemas["ListedGroup"]!.properties!, "id");
  schemas["ListedGroup"]!.required = ["name", "status"];
  return spoilt;
}

test("looks at many fields of every bundle, and at every kind", () => {
  const fields = bundles.flatMap((bundle) => fieldsOf(documentOf(bundle)));
  expect(fields.length).toBeGreaterThan(80);
  expect(new Set(fields.map(({ kind }) => kind))).toEqual(new Set(["enum", "uuid", "date-time", null]));
  expect(fields.some(({ nullable }) => nullable)).toBe(true);
  expect(fields.some(({ list }) => list)).toBe(true);
});

// With CLIENT_LANGUAGE a language of choice; one of them is enough to know that a loss is found.
test("finds each type that is lost on the way to a client", async () => {
  const language = languages.find(({ name }) => name === (process.env["CLIENT_LANGUAGE"] ?? "python"))!;
  const folder = await mkdtemp(join(tmpdir(), "clients-"));
  try {
    const file = join(folder, "spoilt.yaml");
    await writeFile(file, stringify(spoil(documentOf("idm"))));
    const clients = join(folder, "clients");
    // The other bundles are as they were made.
    await cp(join(made, language.name), clients, { recursive: true });
    await generateCode([{ generator: language.name, bundle: "idm", file, folder: join(clients, "idm") }]);
    const program = await buildDriver(language, clients);
    const models = await ask<Record<string, Models>>(program, "types", { bundles: ["idm"] });
    expect(findLosses(fieldsOf(documentOf("idm")), models["idm"]!, language)).toEqual([
      "Person.sourceSystemIdentifier: nullable",
      "User.status: enum",
      "ListedGroup.id: missing",
      "Change.at: date-time",
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
