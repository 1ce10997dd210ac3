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
  if (before === undefined || after === undefined) return;
  const shared = refsOf(old).filter((ref) => refsOf(now).includes(ref));
  const [known, sent] = [valuesOf(before, shared), valuesOf(after, shared)];
  if (direction === "input") {
    for (const [value, schema] of known)
      if ((sent.get(value) ?? prefix + value) !== schema)
        report("discriminator-changed", where, `${value} no longer means ${schema}`);
  } else
    for (const [value, schema] of sent)
      if (known.get(value) !== schema) report("discriminator-changed", where, `${value} now means ${schema}`);
}

const prefix = "#/components/schemas/";
const refsOf = ({ oneOf, anyOf }: Schema): string[] =>
  (oneOf ?? anyOf ?? []).flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref]));

/** The values that tell alternatives apart: those of the mapping, and the names of schemas that it does not have. */
function valuesOf({ mapping = {} }: Discriminator, refs: readonly string[]): Map<string, string> {
  const mapped = Object.entries(mapping).map(([value, schema]): [string, string] => [
    value,
    schema.includes("/") ? schema : prefix + schema,
  ]);
  const named = refs.filter((ref) => !mapped.some(([, schema]) => schema === ref));
  return new Map([...named.map((ref): [string, string] => [ref.slice(ref.lastIndexOf("/") + 1), ref]), ...mapped]);
}
