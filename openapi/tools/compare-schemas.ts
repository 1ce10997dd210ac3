import { isDeepStrictEqual } from "node:util";
import { resolved, type Document, type Schema } from "./document.ts";

/** `input`: what apps send, `output`: what apps read. */
export type Direction = "input" | "output";
export type Break = { kind: string; where: string; says: string };
/** Two documents, what was found between them, and which named schemas were compared already. */
export type Comparison = { before: Document; after: Document; found: Break[]; seen: Set<string> };
type Report = (kind: string, where: string, says: string) => void;
type Step = (from: Schema, to: Schema, at: string) => void;

const annotations = new Set([
  "title",
  "description",
  "example",
  "examples",
  "deprecated",
  "externalDocs",
  "readOnly",
  "writeOnly",
  "xml",
]);
const compared = new Set([
  "$ref",
  "type",
  "format",
  "nullable",
  "enum",
  "properties",
  "required",
  "items",
  "allOf",
  "oneOf",
  "anyOf",
  "additionalProperties",
  "pattern",
  "uniqueItems",
  "default",
]);
/** Limits by the direction in which they get narrower. */
const limits = {
  minLength: 1,
  minItems: 1,
  minimum: 1,
  minProperties: 1,
  maxLength: -1,
  maxItems: -1,
  maximum: -1,
  maxProperties: -1,
};
const wider: Record<string, string> = { integer: "number", int32: "int64", float: "double" };

/** The schema with its $ref followed and its allOf laid together. */
function flat(document: Document, schema: Schema): Schema {
  const { allOf, ...own } = resolved(document, schema);
  return (allOf ?? []).reduce<Schema>((whole, part) => {
    const next = flat(document, part);
    const properties = { ...whole.properties, ...next.properties };
    const required = [...new Set([...(whole.required ?? []), ...(next.required ?? [])])];
    return {
      ...next,
      ...whole,
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
    };
  }, own);
}

/**
 * Tells what breaks an app when one schema becomes another.
 *
 * What apps send has to be taken still, so an input may only get wider; what they read has to be foreseen by them,
 * so an output may only get narrower. A field or enum value that goes is a break both ways.
 */
export function compareSchemas(
  comparison: Comparison,
  from: Schema,
  to: Schema,
  direction: Direction,
  where: string,
): void {
  if (from.$ref !== undefined && to.$ref !== undefined) {
    const pair = `${direction} ${from.$ref} ${to.$ref}`;
    if (comparison.seen.has(pair)) return;
    comparison.seen.add(pair);
  }
  const old = flat(comparison.before, from);
  const now = flat(comparison.after, to);
  const report: Report = (kind, at, says) => comparison.found.push({ kind, where: at, says });
  const step: Step = (inside, next, at) => compareSchemas(comparison, inside, next, direction, at);
  // Whatever is true of `inner` must be true of `outer`.
  const [inner, outer] = direction === "input" ? [old, now] : [now, old];

  if (outer.type !== undefined && outer.type !== inner.type && wider[inner.type ?? ""] !== outer.type) {
    report("type-changed", where, `${old.type ?? "anything"} became ${now.type ?? "anything"}`);
    return;
  }
  if (outer.format !== undefined && outer.format !== inner.format && wider[inner.format ?? ""] !== outer.format) {
    report("format-changed", where, `${old.format ?? "no format"} became ${now.format ?? "no format"}`);
  }
  if (inner.nullable && !outer.nullable) {
    report("nullability-changed", where, direction === "input" ? "null is no longer taken" : "it can be null now");
  }
  compareEnums(old, now, direction, where, report);
  compareLimits(inner, outer, where, report);
  compareObjects(old, now, direction, where, report, step);
  compareAlternatives(old, now, direction, where, report, step);
  if (old.items && now.items) step(old.items, now.items, `${where}[]`);
  else if (outer.items) report("type-changed", where, "its items are of another kind");

  for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (compared.has(keyword) || annotations.has(keyword) || keyword in limits || keyword.startsWith("x-")) continue;
    if (!isDeepStrictEqual(old[keyword], now[keyword]))
      report("unknown-change", where, `${keyword} changed, which this check cannot classify`);
  }
}

function compareEnums(old: Schema, now: Schema, direction: Direction, where: string, report: Report): void {
  const [before, after] = [old.enum, now.enum];
  if (direction === "input" && !before && after) report("enum-value-removed", where, "only some values are taken now");
  if (direction === "output" && before && !after) report("enum-value-added", where, "it can be any value now");
  if (!before || !after) return;
  // Beside a nullable schema null in the list is one way to write what `nullable` says.
  const missing = (from: unknown[], to: unknown[]) => from.filter((value) => value !== null && !to.includes(value));
  for (const value of missing(before, after)) report("enum-value-removed", where, `${String(value)} is gone`);
  if (direction === "input") return;
  for (const value of missing(after, before))
    report("enum-value-added", where, `${String(value)} is new, generated clients refuse it`);
}

function compareLimits(inner: Schema, outer: Schema, where: string, report: Report): void {
  for (const [keyword, sign] of Object.entries(limits)) {
    const [limit, value] = [outer[keyword] as number | undefined, inner[keyword] as number | undefined];
    if (limit === undefined || (value !== undefined && (value - limit) * sign >= 0)) continue;
    report("limit-changed", where, `${keyword} was ${String(inner[keyword])} on one side and is ${limit} on the other`);
  }
  for (const keyword of ["pattern", "uniqueItems"]) {
    if (outer[keyword] && outer[keyword] !== inner[keyword]) report("limit-changed", where, `${keyword} changed`);
  }
}

function compareObjects(
  old: Schema,
  now: Schema,
  direction: Direction,
  where: string,
  report: Report,
  step: Step,
): void {
  const [before, after] = [old.properties ?? {}, now.properties ?? {}];
  for (const [name, schema] of Object.entries(before)) {
    const at = `${where}.${name}`;
    if (!after[name]) report("property-removed", at, "it is gone");
    else step(schema, after[name], at);
  }
  const [wasRequired, isRequired] = [new Set(old.required), new Set(now.required)];
  if (direction === "input") {
    for (const name of isRequired)
      if (!wasRequired.has(name)) report("property-required", `${where}.${name}`, "it has to be sent now");
    if (now.additionalProperties === false && old.additionalProperties !== false)
      report("object-closed", where, "unknown fields are refused now");
    if (!isDeepStrictEqual(old["default"], now["default"]))
      report("default-changed", where, "leaving it out means something else now");
  } else {
    for (const name of wasRequired)
      if (!isRequired.has(name) && after[name])
        report("property-optional", `${where}.${name}`, "it can be missing now");
  }
  const [oldRest, newRest] = [old.additionalProperties, now.additionalProperties];
  if (typeof oldRest === "object" && typeof newRest === "object") step(oldRest, newRest, `${where}.*`);
  else if (typeof oldRest === "object" && newRest === false) report("property-removed", `${where}.*`, "it is gone");
}

function compareAlternatives(
  old: Schema,
  now: Schema,
  direction: Direction,
  where: string,
  report: Report,
  step: Step,
): void {
  for (const keyword of ["oneOf", "anyOf"] as const) {
    const name = (schema: Schema) => schema.$ref ?? JSON.stringify(schema);
    const [before, after] = [old[keyword], now[keyword]].map(
      (list) => new Map((list ?? []).map((schema) => [name(schema), schema])),
    );
    const [inner, outer] = direction === "input" ? [before!, after!] : [after!, before!];
    if (outer.size > 0)
      for (const key of inner.keys())
        if (!outer.has(key)) report("alternative-changed", where, `${keyword} no longer covers ${key}`);
    for (const [key, schema] of before!) if (after!.has(key)) step(schema, after!.get(key)!, where);
  }
}
