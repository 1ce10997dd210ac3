import type { AppError } from "../errors.ts";
import type { JsonSql } from "../json-sql.ts";

declare const shape: unique symbol;

/** A statement that reads many at once: arrays of clients and ids in, a row for each in their order, null where nothing is shown. */
export type ReadQuery<T> = { name: string; text: string; readonly [shape]?: T };

/** Who asks and for what, in the SQL of a read. */
export const asked = { client: "asked.client", id: "asked.id" };

/** The ways of reading one list; see `makeListQuery`. */
export type ListQuery<T> = {
  name: string;
  version: string;
  whole: string;
  rows: string;
  page: string;
  nextPage: string;
  values: number;
  readonly [shape]?: T;
};

/** What a handler answers when the body comes out of the database as it is. */
export type JsonRead<T> = { kind: "read"; query: ReadQuery<T>; client: string; id: string; missing: Missing };
export type JsonList<T> = { kind: "list"; query: ListQuery<T>; values: unknown[]; missing: Missing | null; page: Page };
/** What a handler answers that is made from more than one statement. */
export type JsonMade<T> = { kind: "made"; make: () => Promise<T> };
export type Missing = () => AppError;

/** `limit` undefined: the whole list. */
export type Page = { limit?: number | undefined; cursor?: string | undefined };

/** `from` finds at most one row for what is asked. */
export function makeReadQuery<T extends object>(
  name: string,
  { item, from }: { item: JsonSql<T>; from: string },
): ReadQuery<T> {
  // The inner SELECTs keep the planner from counting the arrays, for which it would plan every time anew.
  const text = `
    SELECT (SELECT ${item} FROM ${from})
    FROM unnest((SELECT $1::text[]), (SELECT $2::uuid[])) WITH ORDINALITY AS asked (client, id, place) ORDER BY place`;
  return { name, text };
}

/** How many items are answered from one statement; a longer list streams. */
export const heldItems = 2000;

type ListParts<T> = {
  item: JsonSql<T>;
  /** What stands before the SELECT: a WITH, or nothing. */
  before?: string;
  /** FROM and WHERE; parameters are numbered without gaps. */
  from: string;
  /** How many parameters `from`, `item`, `shown` and `version` have; `version` names them all. */
  values: number;
  sortKey: string;
  id: string;
  /** Whether the list exists for the caller at all; a list without this always does. */
  shown?: string;
  /** The version of all that the list shows, as a value; equal versions of one list with equal values have equal items. */
  version: string;
  /** Of a whole list whose rows come in its order by how `from` is built. PostgreSQL would not know and sort them all before the first. */
  comesInOrder?: boolean;
};

/**
 * Makes the statements that read one list in its order: sort key, then id.
 *
 * Shape:  `version` answers (shown, version); where both are read in one snapshot, it is the version of what is read there;
 *         `whole` answers (shown, count, body) and counts to at most one item more than are held;
 *         `rows` answers (item) for a cursor; `page` and `nextPage` answer (shown, item, sort key, id),
 *         with the limit and the position behind it as the last parameters.
 */
export function makeListQuery<T extends object>(name: string, parts: ListParts<T>): ListQuery<T> {
  const { item, from, values, sortKey, id, shown = "true", version, before = "", comesInOrder = false } = parts;
  const order = `ORDER BY ${sortKey}, ${id}`;
  const rows = `${before} SELECT ${item} AS item FROM ${from} ${comesInOrder ? "" : order}`;
  const pageOf = (condition: string) => `
    SELECT ${shown}, t.item, t.sort_key, t.id FROM (VALUES (1)) AS one (row) LEFT JOIN LATERAL (
      ${before} SELECT ${item} AS item, ${sortKey} AS sort_key, ${id} AS id FROM ${from} ${condition} ${order} LIMIT $${values + 1}
    ) AS t ON true`;
  return {
    name,
    values,
    version: `SELECT ${shown} AS shown, ${version} AS version`,
    rows,
    // The sorted subquery feeds the aggregate in its order, as there is no join between them.
    whole: `SELECT ${shown}, count(*)::int, '[' || coalesce(string_agg(t.item, ','), '') || ']' FROM (${rows} LIMIT ${heldItems + 1}) AS t`,
    page: pageOf(""),
    nextPage: pageOf(`AND (${sortKey}, ${id}) > ($${values + 2}, $${values + 3}::uuid)`),
  };
}
