import labels from "../../../generated/openapi/property-labels.json" with { type: "json" };
import type { AdminSchemas } from "../../admin/index.ts";
import { uuidPattern } from "../../platform/crypto/ids.ts";
import german from "./locales/de.json" with { type: "json" };
import type { PageRequest } from "./page-request.ts";
import type { Times } from "./zone.ts";

export type Names = ReadonlyMap<string, string>;

/** `name` describes the property, or is its path. */
export type Difference = { name: string; before: string; after: string };

type Writing = { t: PageRequest["t"]; times: Times; names: Names };

export function compareLine(
  { before, after, clientId, personId, schoolId }: AdminSchemas["AuditLine"],
  writing: Writing,
): Difference[] {
  // The line itself names these.
  const ofLine: Record<string, unknown> = { clientId, personId, schoolId };
  const [old, now] = [flatten(before ?? {}), flatten(after ?? {})];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((name) => name !== "id" && !(name in ofLine && (now.get(name) ?? old.get(name)) === ofLine[name]))
    .map((name) => ({
      name: nameIn(name, writing),
      before: write(old.get(name), name, writing),
      after: write(now.get(name), name, writing),
    }))
    .filter(({ before: was, after: is }) => was !== is);
}

/** Flattens nested properties, with names such as `address.city`. */
function flatten(record: object, way = ""): Map<string, unknown> {
  const entries = Object.entries(record).flatMap(([name, value]): [string, unknown][] =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? [...flatten(value as object, `${way}${name}.`)]
      : [[way + name, value]],
  );
  return new Map(entries);
}

type SchoolProperty = Exclude<keyof AdminSchemas["SchoolUpdate"], "location">;
const known = { ...german.frame.difference.property, ...(labels.de satisfies Record<SchoolProperty, string>) };
const values = german.frame.difference.value as Record<string, string>;

/** A text in a language becomes `What the app does (de)`. */
function nameIn(way: string, { t }: Writing): string {
  const [outer = "", name = ""] = ["", ...way.split(".")].slice(-2);
  if (Object.hasOwn(known, name)) return t(`frame.difference.property.${name}`);
  return Object.hasOwn(known, outer) ? `${t(`frame.difference.property.${outer}`)} (${name})` : way;
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text);

function write(value: unknown, name: string, writing: Writing): string {
  const { t, times, names } = writing;
  if (value === undefined || value === null || value === "") return "–";
  if (typeof value === "boolean") return t(`frame.difference.${value ? "yes" : "no"}`);
  if (typeof value === "object") return writeAll(Array.isArray(value) ? value : partsOf(value), name, writing);
  const text = String(value as string | number);
  if (isTime(text)) return times.time(text);
  const scope = text.replace(":", "_");
  if (name.startsWith("scopes") && Object.hasOwn(german.scope, scope)) return t(`scope.${scope}`);
  if (name === "eventTypes" && Object.hasOwn(german.frame.eventType, text)) return t(`frame.eventType.${text}`);
  if (Object.hasOwn(german.staffRoles, text)) return t(`staffRoles.${text}`);
  if (Object.hasOwn(german.attribute, text)) return t(`attribute.${text}`);
  if (Object.hasOwn(values, text)) return t(`frame.difference.value.${text}`);
  return names.get(text) ?? (uuidPattern.test(text) ? t("frame.difference.unnamed") : text);
}

const writeAll = (parts: readonly unknown[], name: string, writing: Writing): string =>
  parts.length === 0 ? "–" : parts.map((one) => write(one, name, writing)).join(", ");

/** The name of a record in a list, such as a school; of a record without one, its values. */
const partsOf = (record: object): unknown[] =>
  "name" in record ? [record.name] : Object.values(record).filter((one) => one !== null);
