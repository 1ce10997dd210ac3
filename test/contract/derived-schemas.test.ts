import { expect, test } from "vitest";
import { deriveSchemas } from "../../openapi/tools/derive-schemas.ts";
import type { Document, Schema } from "../../openapi/tools/document.ts";
import { takeLabels } from "../../openapi/tools/property-labels.ts";

const documentOf = (schemas: Record<string, Schema>): Document => ({
  info: { version: "1.0.0" },
  paths: {},
  components: { schemas },
});

const input: Schema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 20, description: "The name.", default: "new" },
    shortName: { type: "string", nullable: true, maxLength: 5 },
    kinds: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
    state: { allOf: [{ $ref: "#/components/schemas/State" }], default: "ON" },
  },
};
const derive = (schema: Schema): Schema => {
  const document = documentOf({ Derived: schema });
  deriveSchemas(document);
  return document.components!.schemas!["Derived"]!;
};
const state = { $ref: "#/components/schemas/State" };

test("an update has the properties of the input, of which one has to be there", () => {
  const own = { name: { description: "The new name." }, until: { type: "string" } };
  const update = { type: "object", "x-update-of": input, "x-without": ["kinds"], properties: own };
  expect(derive(update)).toEqual({
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    properties: {
      name: { type: "string", minLength: 1, maxLength: 20, description: "The new name." },
      until: { type: "string" },
      shortName: { type: "string", nullable: true, maxLength: 5 },
      state,
    },
  });
});

test("a record has all properties of the input, without limits, where it has its own around them", () => {
  const record = { type: "object", "x-record-of": input, properties: { id: { type: "string" }, kinds: {} } };
  const derived = derive(record);
  expect(derived).toEqual({
    type: "object",
    required: ["id", "name", "shortName", "kinds", "state"],
    properties: {
      id: { type: "string" },
      name: { type: "string", description: "The name." },
      shortName: { type: "string", nullable: true },
      kinds: { type: "array", items: { type: "string" } },
      state,
    },
  });
  expect(Object.keys(derived.properties!)).toEqual(derived.required);
});

test("the properties that events name are those of the record, after the released ones", () => {
  const names = { type: "string", enum: ["state"], "x-event-names-of": input, "x-without": ["kinds"] };
  expect(derive(names)).toEqual({ type: "string", enum: ["state", "name", "short_name"] });
});

test("a label is said once, in both languages, for a property", () => {
  const labelled = (labels: object): Schema => ({ ...input, "x-labels": labels });
  const name = { en: "Name", de: "Name" };
  const document = documentOf({ One: labelled({ name, kinds: { en: "Kinds", de: "Arten" } }) });
  expect(takeLabels(document)).toEqual({ en: { name: "Name", kinds: "Kinds" }, de: { name: "Name", kinds: "Arten" } });
  expect(document.components!.schemas).toEqual({ One: input });
  expect(() => takeLabels(documentOf({ One: labelled({ name: { en: "Name" } }) }))).toThrow("for en and for de");
  expect(() => takeLabels(documentOf({ One: labelled({ nick: name }) }))).toThrow("has no 'nick'");
  const twice = documentOf({ One: labelled({ name }), Other: labelled({ name }) });
  expect(() => takeLabels(twice)).toThrow("Other: x-labels: another schema");
});

test("the pages have no label of their own for a property of the contract", async () => {
  const { default: german } = await import("../../src/portal/frame/locales/de.json", { with: { type: "json" } });
  const { default: shapes } = await import("../../generated/openapi/admin-shapes.json", { with: { type: "json" } });
  const properties = new Set(Object.values(shapes).flatMap((shape) => Object.keys(shape)));
  expect(Object.keys(german.frame.difference.property).filter((name) => properties.has(name))).toEqual([]);
});
