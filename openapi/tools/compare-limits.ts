import type { Pair, Report } from "./comparison.ts";
import type { Schema } from "./document.ts";
import { limits } from "./flat-schema.ts";

/** Tells which limits `inner` does not keep to although `outer` sets them. */
export function compareLimits({ inner, outer, old, now, where }: Pair, report: Report): void {
  const changed = (keyword: string) =>
    report("limit-changed", where, `${keyword} was ${shown(old[keyword])} and is ${shown(now[keyword])}`);
  for (const [keyword, sign] of Object.entries(limits)) {
    const [limit, value] = [outer[keyword], inner[keyword]] as (number | undefined)[];
    if (limit !== undefined && !(value !== undefined && (value - limit) * sign >= 0)) changed(keyword);
  }
  for (const [keyword, exclusive, sign] of [
    ["minimum", "exclusiveMinimum", 1],
    ["maximum", "exclusiveMaximum", -1],
  ] as const) {
    const [limit, value] = [boundOf(outer, keyword, exclusive, sign), boundOf(inner, keyword, exclusive, sign)];
    if (limit === null) continue;
    const beyond = value === null ? -1 : (value.at - limit.at) * sign;
    const kept = value !== null && (beyond > 0 || (beyond === 0 && (value.exclusive || !limit.exclusive)));
    if (!kept) changed(limit.exclusive ? exclusive : keyword);
  }
  const [step, value] = [outer["multipleOf"], inner["multipleOf"]] as (number | undefined)[];
  if (step !== undefined && !(value !== undefined && Number.isInteger(value / step))) changed("multipleOf");
  for (const keyword of ["pattern", "uniqueItems"]) {
    if (outer[keyword] && outer[keyword] !== inner[keyword]) changed(keyword);
  }
}

/** The bound of a number that is reached first; null without one. */
function boundOf(schema: Schema, inclusive: string, exclusive: string, sign: 1 | -1) {
  const bounds = [inclusive, exclusive].flatMap((keyword) =>
    typeof schema[keyword] === "number" ? [{ at: schema[keyword], exclusive: keyword === exclusive }] : [],
  );
  return (
    bounds.sort((one, other) => (other.at - one.at) * sign || Number(other.exclusive) - Number(one.exclusive))[0] ??
    null
  );
}

const shown = (value: unknown) => (value === undefined ? "not set" : JSON.stringify(value));
