import { compareSchemas } from "./compare-schemas.ts";
import { compareSunsets, reportTo, requestOf, whyNotRemovable, type At, type Comparison } from "./comparison.ts";
import { resolved, type Document, type Operation, type Parameter } from "./document.ts";

/** How a parameter is written into the address or a header, with the defaults of OpenAPI filled in. */
function styleOf({ in: place, style, explode, content }: Parameter): string {
  const written = style ?? (place === "query" || place === "cookie" ? "form" : "simple");
  const mediaType = content && Object.keys(content).join();
  return mediaType ?? `${written} ${explode ?? written === "form"}`;
}

/** What only one of the two documents lets a parameter hold. */
const freedoms = ["allowReserved", "allowEmptyValue"] as const;

/** Compares the parameters of one operation; `where` names it. */
export function compareParameters(comparison: Comparison, old: Operation, now: Operation, { side, where }: At): void {
  const keyOf = ({ in: place, name }: Parameter) => `${place} ${place === "header" ? name.toLowerCase() : name}`;
  const byKey = (document: Document, { parameters = [] }: Operation) =>
    new Map(parameters.map((one) => resolved(document, one)).map((parameter) => [keyOf(parameter), parameter]));
  const [before, after] = [byKey(comparison.before, old), byKey(comparison.after, now)];
  const report = reportTo(comparison);
  const moved = new Set<Parameter>();
  for (const [key, parameter] of before) {
    const at = `${where} ${parameter.in} ${parameter.name}`;
    const next = after.get(key);
    if (next) {
      compareParameter(comparison, parameter, next, { side, where: at });
      continue;
    }
    const elsewhere = [...after.values()].find(
      ({ in: place, name }) => name === parameter.name && !before.has(`${place} ${name}`),
    );
    if (elsewhere) moved.add(elsewhere);
    const why = whyNotRemovable(parameter, comparison.today);
    if (elsewhere) report("parameter-moved", at, `it is in ${elsewhere.in} now`);
    else if (why !== null) report("parameter-removed", at, why);
  }
  if (side === "app") return;
  for (const [key, parameter] of after)
    if (parameter.required && !before.get(key)?.required && !moved.has(parameter))
      report("parameter-required", `${where} ${parameter.in} ${parameter.name}`, "it has to be sent now");
}

function compareParameter(comparison: Comparison, old: Parameter, now: Parameter, { side, where }: At): void {
  const report = reportTo(comparison);
  compareSunsets(comparison, old, now, where);
  const [inner, outer] = side === "service" ? [old, now] : [now, old];
  if (styleOf(old) !== styleOf(now) || freedoms.some((freedom) => inner[freedom] && !outer[freedom]))
    report("parameter-style-changed", where, "it is written another way now");
  if (side === "app" && old.required && !now.required) report("parameter-optional", where, "it can be missing now");
  compareSchemas(comparison, schemaOf(old), schemaOf(now), requestOf(side), where);
}

const schemaOf = ({ schema, content }: Parameter) => schema ?? Object.values(content ?? {})[0]?.schema ?? {};
