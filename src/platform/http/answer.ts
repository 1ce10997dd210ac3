import type { AppError } from "../errors.ts";
import type { JsonSql } from "../database/json-sql.ts";
import { join, sql, statement, type Parameters, type Sql, type Statement } from "../database/sql.ts";
import type { Visible, VisibleRows } from "../database/visible-sql.ts";
import type { Caller } from "../concurrency/caller.ts";

declare const shape: unique symbol;

type Named<Given extends object> = Statement<Given> & { readonly name: string };

/** Reads many records: one row per client and id, in their order, null where nothing is visible. */
export type ReadQuery<T> = Named<{ clients: string[]; ids: string[] }> & { readonly [shape]?: T };

export const asked = { client: sql`asked.client`, id: sql`asked.id` };

export type ListQuery<T, Given extends object = object> = {
  name: string;
  version: Named<Given>;
  whole: Named<Given>;
  rows: Named<Given>;
  page: Named<Given & Limit>;
  nextPage: Named<Given & Limit & After>;
  readonly [shape]?: T;
};
type Limit = { limit: number };
type After = { afterSortKey: string; afterId: string };

export type JsonRead<T> = { kind: "read"; query: ReadQuery<T>; client: string; id: string; missing: Missing };
export type JsonList<T> = {
  kind: "list";
  query: ListQuery<T>;
  given: Record<string, unknown>;
  missing: Missing | null;
  page: Page;
};
export type JsonMade<T> = { kind: "made"; make: () => Promise<T> };
export type Done = {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  later?: Later;
};
export type Later = { wait(caller: Caller): Promise<boolean>; work(): Promise<Done> };
export type JsonDone<T extends Done> = { kind: "done"; work: () => Promise<T> };
type Missing = () => AppError;

export type Page = { limit?: number | undefined; cursor?: string | undefined };

export const answerRead = <T>(
  query: ReadQuery<T>,
  { client, id }: { client: string; id: string },
  missing: Missing,
): JsonRead<T> => ({ kind: "read", query, client, id, missing });

export const answerMade = <T>(make: () => Promise<T>): JsonMade<T> => ({ kind: "made", make });

export const answerDone = <T extends Done>(work: () => Promise<T>): JsonDone<T> => ({ kind: "done", work });

export const answerList = <T, Given extends Record<string, unknown>>(
  query: ListQuery<T, Given>,
  given: Given,
  missing: Missing | null,
  page: Page = {},
): JsonList<T> => ({ kind: "list", query, given, missing, page });

/** Compiles only with a rule of visibility; `where` precedes the rule, `filter` follows it. */
type Found = { where?: Sql; filter?: Sql } & (
  { from: Sql; visible: Visible } | { from: VisibleRows; visible?: undefined }
);

function fromAndWhere({ from, where, visible, filter }: Found): Sql {
  const conditions = [where, visible, filter].filter((condition) => condition !== undefined);
  return sql`${from} WHERE ${conditions.length === 0 ? sql`true` : join(conditions, " AND ")}`;
}

export function makeReadQuery<T extends object>(
  name: string,
  { item, ...found }: { item: JsonSql<T> } & Found,
): ReadQuery<T> {
  // The inner SELECTs hide the array lengths from the planner, which would otherwise plan each call anew.
  return named(
    name,
    ({ clients, ids }: Parameters<{ clients: string[]; ids: string[] }>) => sql`
    SELECT (SELECT ${item} FROM ${fromAndWhere(found)})
    FROM unnest((SELECT ${clients}::text[]), (SELECT ${ids}::uuid[])) WITH ORDINALITY AS asked (client, id, place)
    ORDER BY place`,
  );
}

const named = <Given extends object>(name: string, build: (given: Parameters<Given>) => Sql): Named<Given> => ({
  ...statement(build),
  name,
});

/** Lists up to this length are read in one statement; longer ones stream. */
export const heldItems = 2000;

type ListParts<T> = Found & {
  item: JsonSql<T>;
  before?: Sql;
  sortKey: Sql;
  id: Sql;
  shown?: Visible;
  /** Equal versions mean equal items. */
  version: Sql;
  /** `from` already returns the rows in order; PostgreSQL would sort them all again. */
  comesInOrder?: boolean;
};

/**
 * Makes the statements that read a list ordered by sort key, then id: `version` (shown, version); `whole` (version,
 * shown, count, body), counting to one more than `heldItems`; `rows` (item) for a cursor; `page` and `nextPage`
 * (version, shown, item, sort key, id).
 */
export function makeListQuery<T extends object, Given extends object>(
  name: string,
  build: (given: Parameters<Given>) => ListParts<T>,
): ListQuery<T, Given> {
  const rows = ({ item, before = sql``, sortKey, id, comesInOrder = false, ...found }: ListParts<T>) =>
    sql`${before} SELECT ${item} AS item FROM ${fromAndWhere(found)}
      ${comesInOrder ? sql`` : sql`ORDER BY ${sortKey}, ${id}`}`;
  const version = ({ shown, version: value }: ListParts<T>) =>
    sql`SELECT ${shown ?? sql`true`} AS shown, ${value} AS version`;
  // The aggregate keeps the order of the sorted subquery, because there is no join between them.
  const whole = (parts: ListParts<T>) => sql`
    SELECT ${parts.shown ?? sql`true`}, count(*)::int, '[' || coalesce(string_agg(t.item, ','), '') || ']'
    FROM (${rows(parts)} LIMIT ${heldItems + 1}) AS t`;
  const page = (parts: ListParts<T>, given: Parameters<Limit>, after: Sql) => {
    const { item, before = sql``, sortKey, id, shown, ...found } = parts;
    return sql`
    SELECT ${shown ?? sql`true`}, t.item, t.sort_key, t.id FROM (VALUES (1)) AS one (row) LEFT JOIN LATERAL (
      ${before} SELECT ${item} AS item, ${sortKey} AS sort_key, ${id} AS id FROM ${fromAndWhere(found)} ${after}
      ORDER BY ${sortKey}, ${id} LIMIT ${given.limit}
    ) AS t ON true`;
  };
  const after = ({ sortKey, id }: ListParts<T>, { afterSortKey, afterId }: Parameters<After>) =>
    sql`AND (${sortKey}, ${id}) > (${afterSortKey}, ${afterId}::uuid)`;
  // One statement is one snapshot, so the version is that of the rows; it is one row, so their order stays.
  const withVersion = (parts: ListParts<T>, read: Sql, columns: Sql) =>
    sql`SELECT v.version, w.* FROM (${version(parts)}) AS v, (${read}) AS w (${columns})`;
  const paged = (parts: ListParts<T>, given: Parameters<Limit>, from: Sql) =>
    withVersion(parts, page(parts, given, from), sql`shown, item, sort_key, id`);
  const wholeWithVersion = (parts: ListParts<T>) => withVersion(parts, whole(parts), sql`shown, count, body`);
  return {
    name,
    version: named<Given>(`${name}_version`, (given) => version(build(given))),
    whole: named<Given>(name, (given) => wholeWithVersion(build(given))),
    rows: named<Given>(`${name}_rows`, (given) => rows(build(given))),
    page: named<Given & Limit>(`${name}_page`, (given) => paged(build(given), given, sql``)),
    nextPage: named<Given & Limit & After>(`${name}_next_page`, (given) => {
      const parts = build(given);
      return paged(parts, given, after(parts, given));
    }),
  };
}
