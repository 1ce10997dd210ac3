import type { Pair, Report, Step } from "./comparison.ts";
import type { Schema } from "./document.ts";

const words = new Set(["title", "description", "example", "examples", "externalDocs"]);

/** What an alternative is recognized by: the name of its schema, or what it says without the words for people. */
const keyOf = (schema: Schema): string =>
  schema.$ref ?? JSON.stringify(schema, (key, value: unknown) => (words.has(key) ? undefined : value));

/** True when `union` is nothing but alternatives, and `schema` is one of them. */
export function isOneAlternative(schema: Schema, union: Schema): boolean {
  const alternatives = union.oneOf ?? union.anyOf;
  if (alternatives === undefined || union.type !== undefined || union.properties !== undefined) return false;
  return alternatives.some((one) => keyOf(one) === keyOf(schema));
}

/** Compares `oneOf`, `anyOf` and what tells their alternatives apart. */
export function compareAlternatives({ old, now, direction, where }: Pair, report: Report, step: Step): void {
  for (const keyword of ["oneOf", "anyOf"] as const) {
    const byKey = (list: Schema[] = []) => new Map(list.map((schema) => [keyOf(schema), schema]));
    const [before, after] = [byKey(old[keyword]), byKey(now[keyword])];
    const [inner, outer] = direction === "input" ? [before, after] : [after, before];
    if (outer.size > 0 && inner.size === 0)
      report(
        "alternative-changed",
        where,
        `${keyword} ${direction === "input" ? "limits what is taken" : "is gone"} now`,
      );
    for (const key of outer.size > 0 ? inner.keys() : []) {
      if (outer.has(key)) continue;
      report("alternative-changed", where, direction === "input" ? `${key} is no longer taken` : `${key} is new`);
    }
    for (const [key, schema] of before) if (after.has(key)) step(schema, after.get(key)!, where);
  }
  compareDiscriminators(old, now, { direction, where, report });
}

type Discriminator = { propertyName: string; mapping?: Record<string, string> };

function compareDiscriminators(
  old: Schema,
  now: Schema,
  { direction, where, report }: Pick<Pair, "direction" | "where"> & { report: Report },
): void {
  const [before, after] = [old, now].map((schema) => schema["discriminator"] as Discriminator | undefined);
  if (before?.propertyName !== after?.propertyName) {
    const shown = (one: Discriminator | undefined) => one?.propertyName ?? "nothing";
    report("discriminator-changed", where, `${shown(before)} told the alternatives apart, now ${shown(after)} does`);
    return;
  }
  const [inner, outer] = direction === "input" ? [before, after] : [after, before];
  for (const [value, schema] of Object.entries(inner?.mapping ?? {}))
    if ((outer?.mapping?.[value] ?? `#/components/schemas/${value}`) !== schema)
      report(
        "discriminator-changed",
        where,
        `${value} ${direction === "input" ? "no longer means" : "now means"} ${schema}`,
      );
}
