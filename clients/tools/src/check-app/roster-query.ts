import type { RosterRecord } from "./roster-records.ts";

/** A request that is refused, with a code of the standard. */
export class RosterRefusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    [this.status, this.code] = [status, code];
  }
}

function refuse(code: string, message: string): never {
  throw new RosterRefusal(400, code, message);
}

type Holds = (record: RosterRecord) => boolean;

/** Reads the query of a list. `examples` have all fields of its records. Errors: RosterRefusal. */
export function readQuery(search: URLSearchParams, examples: readonly RosterRecord[]) {
  const known = ["limit", "offset", "sort", "orderBy", "filter", "fields"];
  for (const name of search.keys()) if (!known.includes(name)) refuse("invaliddata", `There is no parameter ${name}.`);
  const [sort, filter, fields] = [search.get("sort"), search.get("filter"), search.get("fields")?.split(",")];
  const [limit, offset] = [Number(search.get("limit") ?? 100), Number(search.get("offset") ?? 0)];
  if (![limit, offset].every(Number.isInteger) || limit < 1 || limit > 10_000 || offset < 0)
    refuse("invaliddata", "limit is from 1 to 10000, and offset at least 0.");
  if (sort !== null && !hasField(examples, sort)) refuse("invalid_sort_field", `There is no field ${sort}.`);
  const unknown = fields?.find((name) => !examples.some((record) => Object.hasOwn(record, name)));
  if (unknown !== undefined) refuse("invalid_selection_field", `There is no field ${unknown}.`);
  return {
    limit,
    offset,
    holds: filter === null ? () => true : readFilter(filter.trim(), examples),
    select: (record: RosterRecord): RosterRecord =>
      fields === undefined ? record : Object.fromEntries(fields.map((name) => [name, record[name]])),
  };
}

/** Fields of other records are their ids, and roles. */
const hasField = (examples: readonly RosterRecord[], field: string): boolean =>
  /^\w+$|\.sourcedId$|^roles\.role$/.test(field) &&
  examples.some((record) => valuesOf(record, field).some((value) => /string|boolean/.test(typeof value)));

const valuesOf = (record: RosterRecord, field: string): unknown[] =>
  field
    .split(".")
    .reduce((of: unknown[], name) => of.flatMap((value) => (value as RosterRecord)[name] ?? []), [record]);

const condition = /(?:^|\s+(AND|OR)\s+)\s*([A-Za-z_][\w.]*)\s*(!=|>=|<=|=|>|<|~)\s*'((?:[^']|'')*)'/giy;

/** AND binds more closely than OR. Source: OneRoster 1.1 section 3.4.3. Errors: RosterRefusal. */
function readFilter(filter: string, examples: readonly RosterRecord[]): Holds {
  const any: Holds[][] = [[]];
  let end = 0;
  for (const [all, joint, field = "", operator = "", value = ""] of filter.matchAll(condition)) {
    if (!hasField(examples, field)) refuse("invalid_filter_field", `There is no field ${field}.`);
    if (joint?.toUpperCase() === "OR") any.push([]);
    any.at(-1)!.push(makeCondition(field, operator, value.replaceAll("''", "'")));
    end += all.length;
  }
  if (end === 0 || end !== filter.length)
    refuse("invalid_filter_field", "The filter is not a condition such as status='active'.");
  return (record) => any.some((all) => all.every((holds) => holds(record)));
}

function makeCondition(field: string, operator: string, value: string): Holds {
  const read = field === "dateLastModified" ? readTime : (text: string) => text.toLowerCase();
  const wanted = read(value);
  if (Number.isNaN(wanted)) refuse("invalid_filter_field", `${field} is compared with a time.`);
  const compare = (one: string | number): boolean => {
    if (operator === "~" && typeof one === "string") return one.includes(String(wanted));
    return one === wanted ? !/^[<>]$/.test(operator) : operator.startsWith(one > wanted ? ">" : "<");
  };
  const isOne: Holds = (record) => valuesOf(record, field).some((one) => compare(read(String(one))));
  return operator === "!=" ? (record) => !isOne(record) : isOne;
}

/** A time without a zone is in UTC. A plus sign that was not encoded is read as a space. */
function readTime(text: string): number {
  const written = text.replace(/ (\d\d:?\d\d)$/, "+$1");
  return Date.parse(/T.*(Z|[+-]\d\d:?\d\d)$/i.test(written) || !/T/i.test(written) ? written : `${written}Z`);
}
