import { isInstant } from "../../platform/clock.ts";
import { join, Parameter, sql, type Sql } from "../../platform/database/sql.ts";
import { didYouMean } from "../../platform/text/did-you-mean.ts";
import { refuseFilter, refuseSort } from "../failure.ts";
import type { FieldValue } from "../records/record.ts";
import type { Condition, Filter, Operator } from "./parse.ts";

type Fields = Readonly<Record<string, FieldValue>>;

type Compiled = { condition: Sql; values: Record<string, string> };

const comparisons: Record<Exclude<Operator, "~">, Sql> = {
  "=": sql`=`,
  "!=": sql`<>`,
  ">": sql`>`,
  ">=": sql`>=`,
  "<": sql`<`,
  "<=": sql`<=`,
};

/** Errors: invalid invalid_filter_field. */
export function compileFilter(filter: Filter, fields: Fields): Compiled {
  const values: Record<string, string> = {};
  const compileOne = ({ field, operator, value }: Condition): Sql => {
    const fieldValue = Object.hasOwn(fields, field) ? fields[field]! : null;
    if (fieldValue === null) throw refuseFilter(unknownField(field, fields));
    const name = `filter${Object.keys(values).length}`;
    values[name] = fieldValue.kind === "time" ? readTime(field, value) : value;
    return compare(fieldValue, operator, new Parameter(name));
  };
  const any = filter.map((all) => sql`(${join(all.map(compileOne), " AND ")})`);
  return { condition: sql`(${join(any, " OR ")})`, values };
}

/** What all records that the filter lets through have: an id, and a last change at this time or later. */
export function findBounds(filter: Filter): { sourcedId?: string | undefined; since?: string | undefined } {
  const all = filter.length === 1 ? filter[0]! : [];
  const find = (field: string, ...by: Operator[]) =>
    all.find((one) => one.field === field && by.includes(one.operator))?.value;
  const since = find("dateLastModified", ">", ">=", "=", "~");
  return { sourcedId: find("sourcedId", "="), since: since && readTime("dateLastModified", since) };
}

/** A null is equal to nothing. */
function compare({ kind, of }: FieldValue, operator: Operator, value: Parameter): Sql {
  if (operator === "!=") return sql`(${compare({ kind, of }, "=", value)}) IS NOT TRUE`;
  if (kind === "many")
    return sql`EXISTS (SELECT FROM unnest(${of}) AS one (value)
      WHERE ${compare({ kind: "text", of: sql`one.value` }, operator, value)})`;
  if (kind === "time") {
    if (operator === "~") return sql`${of} = ${value}::text::timestamptz`;
    return sql`${of} ${comparisons[operator]} ${value}::text::timestamptz`;
  }
  if (operator === "~") return sql`strpos(lower(${of}), lower(${value}::text)) > 0`;
  return sql`lower(${of}) COLLATE "C" ${comparisons[operator]} lower(${value}::text)`;
}

/** Errors: invalid invalid_sort_field. */
export function findSortKey(field: string, fields: Fields): Sql {
  const fieldValue = Object.hasOwn(fields, field) ? fields[field]! : null;
  if (fieldValue === null) throw refuseSort(unknownField(field, fields));
  if (fieldValue.kind === "many") throw refuseSort(`The list cannot be sorted by ${field}, which has several values.`);
  return fieldValue.kind === "time" ? fieldValue.of : sql`lower(${fieldValue.of}) COLLATE "C"`;
}

/** Field names come from the request, and `showField` keeps to the characters of one. */
export const unknownField = (field: string, fields: Readonly<Record<string, unknown>>): string =>
  `The records have no field ${showField(field)}.${didYouMean(field, Object.keys(fields))}`;

const showField = (field: string) => field.replace(/[^\w.]/g, "?").slice(0, 40);

const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** A date alone is its first moment; a time without a zone is in UTC. */
function readTime(field: string, value: string): string {
  // A plus sign that was not encoded is read as a space.
  const written = value.replace(/ (\d\d:?\d\d)$/, "+$1");
  const isInZone = /T.*(Z|[+-]\d\d:?\d\d)$/i.test(written);
  const read = time.test(written) ? new Date(isInZone || !written.includes("T") ? written : `${written}Z`) : null;
  const at = read === null || Number.isNaN(read.getTime()) ? "" : read.toISOString();
  if (!isInstant(at)) throw refuseFilter(`${field} is compared with a time such as 2026-09-01T00:00:00Z.`);
  return at;
}
