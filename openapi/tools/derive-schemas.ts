import type { Document, Schema } from "./document.ts";

type Derivation = {
  "x-update-of"?: Schema;
  "x-record-of"?: Schema;
  "x-event-names-of"?: Schema;
  "x-without"?: string[];
};
type Derived = Schema & Derivation;
type Properties = Record<string, Schema>;

const limits = ["minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"];

/**
 * Replaces each schema that is derived from another by what it means (openapi/rules/docs/derived-schema.md): an update
 * and a record by the properties of the input, and the property names of events by those of the record.
 */
export function deriveSchemas({ components = {} }: Document): void {
  const { schemas = {} } = components;
  for (const [name, schema] of Object.entries(schemas) as [string, Derived][]) {
    const { "x-update-of": input, "x-record-of": shown, "x-event-names-of": record } = schema;
    if (input) schemas[name] = deriveUpdate(schema, input);
    if (shown) schemas[name] = deriveRecord(schema, shown);
    if (record) schemas[name] = deriveEventNames(schema, record);
  }
}

/** Any property may be left out, but not all of them. */
function deriveUpdate({ "x-update-of": _, "x-without": without, properties, ...own }: Derived, input: Schema): Schema {
  const { type, description, ...more } = own;
  return {
    type: type!,
    description,
    additionalProperties: false,
    minProperties: 1,
    ...more,
    properties: mergeProperties(input, { properties, without }, withoutDefault),
  };
}

/** Every property is there, and what is stored needs no limits. */
function deriveRecord({ "x-record-of": _, "x-without": without, properties, ...own }: Derived, input: Schema): Schema {
  const merged = mergeProperties(input, { properties, without }, (property) => withoutLimits(withoutDefault(property)));
  return { ...own, required: Object.keys(merged), properties: merged };
}

/** The released names stay first. */
function deriveEventNames(
  { "x-event-names-of": _, "x-without": without = [], ...own }: Derived,
  record: Schema,
): Schema {
  const names = Object.keys(record.properties ?? {})
    .filter((name) => !without.includes(name))
    .map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return { ...own, enum: [...new Set([...(own.enum ?? []), ...names])] };
}

/** Each written property in its place, and before it what the input has before it; the rest of the input is last. */
function mergeProperties(
  input: Schema,
  { properties = {}, without = [] }: { properties: Properties | undefined; without: string[] | undefined },
  adapt: (property: Schema) => Schema,
): Properties {
  const inherited = Object.entries(input.properties ?? {}).filter(([name]) => !without.includes(name));
  const merged: Properties = {};
  const takeUntil = (end: number): void => {
    for (const [name, property] of inherited.slice(0, end))
      if (!Object.hasOwn(properties, name)) merged[name] ??= adapt(property);
  };
  for (const [name, property] of Object.entries(properties)) {
    const index = inherited.findIndex(([one]) => one === name);
    if (index !== -1) takeUntil(index);
    const isWhole = index === -1 || ["$ref", "type", "allOf"].some((keyword) => keyword in property);
    merged[name] = isWhole ? property : adapt({ ...inherited[index]![1], ...property });
  }
  takeUntil(inherited.length);
  return merged;
}

function withoutDefault({ default: _, ...property }: Schema): Schema {
  const { allOf, ...more } = property;
  return allOf?.length === 1 && Object.keys(more).length === 0 ? allOf[0]! : property;
}

function withoutLimits(property: Schema): Schema {
  const kept = Object.entries(property).filter(([keyword]) => !limits.includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => [keyword, keyword === "items" ? withoutLimits(value as Schema) : value]),
  );
}
