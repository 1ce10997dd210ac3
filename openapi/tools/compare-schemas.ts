import { isDeepStrictEqual } from "node:util";
import { makeBreak, type Direction } from "./breaks.ts";
import { compareAlternatives, isOneAlternative } from "./compare-alternatives.ts";
import { compareLimits } from "./compare-limits.ts";
import { whyNotRemovable, type Comparison, type Pair, type Report, type Step } from "./comparison.ts";
import type { Document, Schema } from "./document.ts";
import { flatSchema, limits } from "./flat-schema.ts";

/** Keywords that are compared, and those that are words for people. `readOnly` and `writeOnly` hide properties. */
const known = new Set([
  ...["$ref", "type", "format", "nullable", "enum", "properties", "required", "items", "allOf", "oneOf", "anyOf"],
  ...["additionalProperties", "pattern", "uniqueItems", "default", "discriminator", "multipleOf"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", ...Object.keys(limits)],
  ...["title", "description", "example", "examples", "deprecated", "externalDocs", "readOnly", "writeOnly", "xml"],
  ...["$comment", "$id", "$schema", "$defs"],
]);
const wider: Record<string, string> = { integer: "number", int32: "int64", float: "double" };
const listed = (type: Schema["type"]) => (type === undefined ? undefined : [type].flat());
const named = (type: Schema["type"]) => listed(type)?.join(" or ") ?? "anything";

/**
 * Tells what breaks an app when one schema becomes another.
 *
 * What apps send has to be taken still, so an input may only get wider; what they read has to be foreseen by them,
 * so an output may only get narrower. A property that goes is a break both ways.
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
  const [old, now] = [flatSchema(comparison.before, from), flatSchema(comparison.after, to)];
  const report: Report = (kind, at, says) => comparison.found.push(makeBreak(kind, at, says, direction));
  const step: Step = (inside, next, at) => compareSchemas(comparison, inside, next, direction, at);
  const pair: Pair = { old, now, ...orderedBy(direction, old, now), direction, where };
  const { inner, outer } = pair;
  if (direction === "input" ? isOneAlternative(from, now) : isOneAlternative(to, old)) return;

  const [allowed, possible] = [listed(outer.type), listed(inner.type)];
  const fits = (type: string) => allowed!.includes(type) || allowed!.includes(wider[type] ?? "");
  if (allowed && !possible?.every(fits)) {
    if (!possible && (inner.oneOf ?? inner.anyOf))
      report(
        "alternative-changed",
        where,
        direction === "input" ? "only one is taken now" : "it is one of several now",
      );
    else report("type-changed", where, `${named(old.type)} became ${named(now.type)}`);
    return;
  }
  if (outer.format !== undefined && outer.format !== inner.format && wider[inner.format ?? ""] !== outer.format)
    report("format-changed", where, `${old.format ?? "no format"} became ${now.format ?? "no format"}`);
  if (inner.nullable && !outer.nullable)
    report("nullability-changed", where, direction === "input" ? "null is no longer taken" : "it can be null now");
  if (direction === "input" && !isDeepStrictEqual(old["default"], now["default"]))
    report("default-changed", where, "leaving it out means something else now");
  compareEnums(pair, report);
  compareLimits(pair, report);
  compareProperties(comparison, pair, report, step);
  compareFurtherProperties(pair, report, step);
  compareAlternatives(pair, report, step);
  if (old.items && now.items) step(old.items, now.items, `${where}[]`);
  else if (outer.items) report("type-changed", where, "its items are of another kind");

  for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (known.has(keyword) || keyword.startsWith("x-")) continue;
    if (!isDeepStrictEqual(old[keyword], now[keyword]))
      report("unknown-change", where, `${keyword} changed, which this check cannot classify`);
  }
}

const orderedBy = (direction: Direction, old: Schema, now: Schema) =>
  direction === "input" ? { inner: old, outer: now } : { inner: now, outer: old };

/** True if the released contract tells readers to expect further values, as the names of changed properties do. */
const isOpen = ({ description }: Schema) =>
  String(description).includes("More may be added; ignore what you do not know");

function compareEnums({ old, now, direction, where }: Pair, report: Report): void {
  const [before, after] = [old.enum, now.enum];
  // Beside a nullable schema null in the list is one way to write what `nullable` says.
  const missing = (from: unknown[], to: unknown[]) => from.filter((value) => value !== null && !to.includes(value));
  if (direction === "input") {
    if (!after) return;
    if (!before) report("enum-value-removed", where, "only some values are taken now");
    else for (const value of missing(before, after)) report("enum-value-removed", where, `${String(value)} is gone`);
  } else if (before && !isOpen(old)) {
    if (!after) report("enum-value-added", where, "it can be any value now");
    else for (const value of missing(after, before)) report("enum-value-added", where, `${String(value)} is new`);
  }
}

/** The properties that exist in a direction: what is read-only cannot be sent, what is write-only is never answered. */
function visible(document: Document, schema: Schema, direction: Direction) {
  const hides = direction === "input" ? "readOnly" : "writeOnly";
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([, property]) => flatSchema(document, property)[hides] !== true),
  );
  const hidden = (name: string) => schema.properties?.[name] !== undefined && !(name in properties);
  return { properties, required: new Set((schema.required ?? []).filter((name) => !hidden(name))) };
}

function compareProperties(comparison: Comparison, pair: Pair, report: Report, step: Step): void {
  const { direction, where } = pair;
  const old = visible(comparison.before, pair.old, direction);
  const now = visible(comparison.after, pair.now, direction);
  for (const [name, schema] of Object.entries(old.properties)) {
    const at = `${where}.${name}`;
    if (now.properties[name]) step(schema, now.properties[name], at);
    else {
      const why = whyNotRemovable(flatSchema(comparison.before, schema), comparison.today);
      if (why !== null) report("property-removed", at, why);
    }
  }
  if (direction === "input") {
    for (const name of now.required)
      if (!old.required.has(name)) report("property-required", `${where}.${name}`, "it has to be sent now");
  } else
    for (const name of old.required)
      if (!now.required.has(name) && now.properties[name])
        report("property-optional", `${where}.${name}`, "it can be missing now");
}

/** Properties that have no name: anything, a schema for all of them, or none. */
function compareFurtherProperties({ old, now, direction, where }: Pair, report: Report, step: Step): void {
  const [before = true, after = true] = [old.additionalProperties, now.additionalProperties];
  const at = `${where}.*`;
  if (after === false) {
    if (typeof before === "object") report("property-removed", at, "it is gone");
    else if (direction === "input" && before) report("object-closed", where, "unknown properties are refused now");
  } else if (typeof before === "object" || (direction === "input" && before && typeof after === "object"))
    step(before === true ? {} : before, after === true ? {} : after, at);
}
