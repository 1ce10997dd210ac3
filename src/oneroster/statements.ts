import { hash } from "node:crypto";
import { shownSchools, viewVersion, type IdKind } from "../access/index.ts";
import { jsonRecord } from "../platform/database/json-sql.ts";
import { uuidPattern } from "../platform/crypto/ids.ts";
import { join, sql, statement, type Parameters, type Sql, type Statement } from "../platform/database/sql.ts";
import type { Version } from "./contract.ts";
import { refuseSelection } from "./failure.ts";
import { compileFilter, findBounds, findSortKey, unknownField } from "./filter/compile.ts";
import { parseFilter } from "./filter/parse.ts";
import { enrollments } from "./records/enrollments.ts";
import { roundedTime, type Params, type Part, type Reader, type RecordFields } from "./records/record.ts";
import type { Resource, Source, Way } from "./records/record.ts";
import { wayIsShown } from "./shown.ts";

/** What the query of a request chooses, beside the page. */
export type Selection = {
  filter?: string | undefined;
  sort?: string | undefined;
  orderBy?: "asc" | "desc" | undefined;
  fields?: string | undefined;
};

export type Values = Params & Record<string, unknown>;

/** `values` are the parameters of the filter. */
export type Statements = {
  /** Differs where their text does. */
  id: string;
  /** Returns (shown, version). */
  version: Statement<Values>;
  /** The list is of what changed since a time; `anyPage` and `count` read the changes alone. */
  isOfChanges: boolean;
  /**
   * All return (count, items, last): how many, joined, and the last one's position. `page` checks all rows that its
   * offset passes over one by one, `anyPage` reads the whole list at once; `nextPage` is what comes after a page.
   */
  page: Statement<Values> | null;
  anyPage: Statement<Values>;
  nextPage: Statement<Values> | null;
  count: Statement<Values>;
  values: Record<string, string>;
};

type Shape = { resource: Resource; way: Way; ids: IdKind; version: Version };

const known = new Map<string, Statements>();

/**
 * Makes the statements of an operation. Those of whole lists are prepared; those with a selection are made anew.
 *
 * Errors: invalid invalid_filter_field, invalid_sort_field, invalid_selection_field.
 */
export function statementsFor(shape: Shape, selection: Selection): Statements {
  const { filter, sort, fields } = selection;
  if ([filter, sort, fields].some((value) => value !== undefined)) return makeStatements(shape, selection);
  const name = nameStatement(shape);
  const statements = known.get(name) ?? makeStatements(shape, {}, name);
  known.set(name, statements);
  return statements;
}

/** PostgreSQL keeps 63 characters of a name. */
function nameStatement({ resource, way, ids, version }: Shape): string {
  const ways = Object.entries(way).map(([key, value]) => (value === true ? key : value));
  return ["oneroster", version, resource.single, ...ways, ...(ids === "own" ? ["own"] : [])].join("_");
}

/** The values that find the record in the statement of a single one; null for an id of another shape. */
export function findIds(resource: Resource, id: string): Record<string, string> | null {
  const names = resource === enrollments ? ["groupId", "personId"] : ["id"];
  const ids = id.split("_");
  if (ids.length !== names.length || !ids.every((one) => uuidPattern.test(one))) return null;
  return Object.fromEntries(names.map((one, place) => [one, ids[place]!]));
}

function makeStatements(shape: Shape, selection: Selection, name?: string): Statements {
  const { resource, ids, version } = shape;
  const filter = selection.filter === undefined ? [] : parseFilter(selection.filter);
  const { sourcedId, since } = findBounds(filter);
  const isOne = sourcedId !== undefined && Object.keys(shape.way).every((key) => key === "role" || key === "session");
  const way: Way = isOne ? { ...shape.way, one: true } : shape.way;
  const idsOfOne = isOne ? findIds(resource, sourcedId) : {};
  const make = (part: string, build: (reader: Reader) => Sql) =>
    statement<Values>(
      (params: Parameters<Params>) => {
        const ofReader = { ids, version, since: since ? params.changedSince : undefined };
        return build(Object.assign(Object.create(params) as Parameters<Params>, ofReader));
      },
      name && `${name}_${part}`,
    );
  let values: Record<string, string> = {};
  const isSelected = selection.filter !== undefined || selection.sort !== undefined;
  const isByChange = since !== undefined && filter.flat().every(({ field }) => field === "dateLastModified");
  const readPart = (whole: Part): Part =>
    selection.sort === undefined && (!isSelected || isByChange) ? whole : "read";
  const find = (reader: Reader, part: Part) => {
    const source = resource.source(reader, way, part);
    const { json, values: known } = resource.fields(reader, source.id);
    const { changedAt } = source;
    const changed = changedAt && { dateLastModified: { kind: "time" as const, of: roundedTime(reader, changedAt) } };
    const fields: RecordFields = { json, values: { ...known, ...changed } };
    const compiled = filter.length === 0 ? null : compileFilter(filter, fields.values);
    if (compiled !== null) ({ values } = compiled);
    const conditions = [
      ...(idsOfOne === null ? [sql`false`] : source.where),
      ...(part === "next" ? [source.isAfter] : []),
      ...source.visible,
      ...(compiled === null ? [] : [compiled.condition]),
    ];
    const from = sql`${source.from} WHERE ${conditions.length === 0 ? sql`true` : join(conditions, " AND ")}`;
    return { source, fields, from };
  };
  const makePage = (part: Part) => (reader: Reader) => {
    const { source, fields, from } = find(reader, part);
    const offset = part === "next" ? sql`` : sql`OFFSET ${reader.offset}::int`;
    const item = itemOf(resource.fields(reader, resource.listedId), selection.fields);
    // The records of a page are read once its rows are chosen.
    return sql`SELECT count(*)::int AS count, coalesce(string_agg(item, ','), '') AS items,
      max(position COLLATE "C") AS last FROM (
      SELECT ${item} AS item, ${resource.position} AS position FROM (
        SELECT ${resource.keys} FROM ${from} ${orderOf(source, fields, selection)} LIMIT ${reader.limit}::int ${offset}
        ) AS ${resource.listedAs ?? sql`listed`} ${resource.records(reader)} OFFSET 0) AS page`;
  };
  const anyPage = make("any_page", makePage(readPart("keys")));
  return {
    id: hash("sha1", anyPage.text),
    version: make("version", (reader) => {
      const schools = way.school ? sql`SELECT ${reader.schoolId}::uuid` : shownSchools(reader.client);
      return sql`SELECT ${wayIsShown(reader, way)} AS shown, ${viewVersion(reader.client, schools)} AS version`;
    }),
    page: isSelected ? null : make("page", makePage("first")),
    isOfChanges: since !== undefined,
    anyPage,
    nextPage: selection.sort === undefined ? make("next_page", makePage("next")) : null,
    count: make("count", (reader) => {
      const { from } = find(reader, selection.filter === undefined || isByChange ? "counted" : "read");
      return sql`SELECT count(*)::int AS count FROM ${from}`;
    }),
    values: { ...idsOfOne, ...(since !== undefined && { changedSince: since }), ...values },
  };
}

function orderOf({ order, comesInOrder }: Source, fields: RecordFields, { sort, orderBy }: Selection): Sql {
  if (sort === undefined) return comesInOrder ? sql`` : sql`ORDER BY ${order}`;
  return sql`ORDER BY ${findSortKey(sort, fields.values)} ${orderBy === "desc" ? sql`DESC` : sql`ASC`} NULLS LAST, ${order}`;
}

function itemOf({ json }: RecordFields, selected: string | undefined): Sql {
  if (selected === undefined) return jsonRecord(json);
  const names = new Set(selected.split(",").map((name) => name.trim()));
  const unknown = [...names].find((name) => !Object.hasOwn(json, name));
  if (unknown !== undefined) throw refuseSelection(unknownField(unknown, json));
  return jsonRecord(Object.fromEntries(Object.entries(json).filter(([name]) => names.has(name))));
}
