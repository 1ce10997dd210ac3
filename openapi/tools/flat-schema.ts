import { resolved, type Document, type Schema } from "./document.ts";

/** Limits by the direction in which they get narrower. */
export const limits = { minLength: 1, minItems: 1, minProperties: 1, maxLength: -1, maxItems: -1, maxProperties: -1 };
const stricter: Record<string, number> = {
  ...limits,
  minimum: 1,
  exclusiveMinimum: 1,
  maximum: -1,
  exclusiveMaximum: -1,
};

/** The schema with its $ref followed, its allOf laid together, and what OpenAPI 3.1 writes another way as in 3.0. */
export function flatSchema(document: Document, schema: Schema): Schema {
  const { allOf, ...own } = likeOpenApi30(resolved(document, schema));
  const whole = (allOf ?? []).reduce<Schema>((sum, part) => both(sum, flatSchema(document, part)), own);
  const only = whole.oneOf?.length === 1 && whole.type === undefined ? whole.oneOf[0] : undefined;
  if (only === undefined) return whole;
  const { oneOf: _, ...rest } = whole;
  return both(rest, flatSchema(document, only));
}

/** What follows both schemas. */
function both(one: Schema, other: Schema): Schema {
  const sum: Schema = { ...other, ...one };
  for (const [keyword, sign] of Object.entries(stricter)) {
    const values = [one[keyword], other[keyword]].filter((value) => typeof value === "number");
    if (values.length === 2) sum[keyword] = sign > 0 ? Math.max(...values) : Math.min(...values);
  }
  if (one.enum && other.enum) sum.enum = one.enum.filter((value) => other.enum!.includes(value));
  const required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])];
  if (required.length > 0) sum.required = required;
  const properties = { ...other.properties, ...one.properties };
  for (const name of Object.keys(one.properties ?? {})) {
    const second = other.properties?.[name];
    if (second) properties[name] = { allOf: [one.properties![name]!, second] };
  }
  if (Object.keys(properties).length > 0) sum.properties = properties;
  return sum;
}

function likeOpenApi30(schema: Schema): Schema {
  const flat: Schema = { ...schema };
  const types = flat.type as unknown as string | string[] | undefined;
  if (Array.isArray(types)) {
    const others = types.filter((type) => type !== "null");
    if (others.length < types.length) flat.nullable = true;
    if (others.length === 1) flat.type = others[0]!;
    else flat.type = others as unknown as string;
  }
  if ("const" in flat) {
    flat.enum = [flat["const"]];
    delete flat["const"];
  }
  for (const keyword of ["oneOf", "anyOf"] as const) {
    const kept = flat[keyword]?.filter((part) => part.type !== "null");
    if (kept === undefined || kept.length === flat[keyword]!.length) continue;
    flat.nullable = true;
    flat[keyword] = kept;
  }
  for (const [limit, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    if (typeof flat[exclusive] !== "boolean") continue;
    const bound = flat[limit];
    Reflect.deleteProperty(flat, flat[exclusive] ? limit : exclusive);
    if (flat[exclusive]) flat[exclusive] = bound;
  }
  return flat;
}
