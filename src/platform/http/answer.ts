import type { AppError } from "../errors.ts";
import type { JsonSql } from "../database/json-sql.ts";
import { identifier, join, literal, sql, statement } from "../database/sql.ts";
import type { Parameters, Queryable, Sql, Statement, Value } from "../database/sql.ts";
import type { Visible, VisibleRows } from "../database/visible-sql.ts";
import type { Caller } from "../concurrency/caller.ts";

declare const shape: unique symbol;

type Named<Params extends object> = Statement<Params> & { readonly name: string };

/** Reads many records: one row (version, item) per client and id, in their order, null where nothing is visible. */
export type ReadQuery<T> = Named<{ clients: string[]; ids: string[] }> & { readonly [shape]?: T };

export const requested = { client: sql`asked.client`, id: sql`asked.id` };

/** Rows between `open` and `close`, separated by commas. */
type BodyPart<Params extends object> = { open: string; rows: Named<Params>; close: string; rowsAtOnce: number };

/** The body is `open`, the parts separated by commas, `close`. */
type Body<Params extends object> = { open: string; parts: readonly BodyPart<Params>[]; close: string };

type BodyQuery<Params extends object> = Body<Params> & { name: string; version: Named<Params>; whole: Named<Params> };

export type ListQuery<T, Params extends object = object> = BodyQuery<Params> & {
  page: Named<Params & Limit>;
  nextPage: Named<Params & Limit & After>;
  readonly [shape]?: T;
};

/** An object of lists from one snapshot, which has no pages. */
export type ObjectQuery<T, Params extends object = object> = BodyQuery<Params> & {
  page?: undefined;
  nextPage?: undefined;
  readonly [shape]?: T;
};

type Limit = { limit: number };
type After = { afterSortKey: string; afterId: string };

export type JsonRead<T> = { kind: "read"; query: ReadQuery<T>; client: string; id: string; missing: Missing };
export type JsonList<T> = {
  kind: "list";
  query: ListQuery<T>;
  params: Record<string, unknown>;
  missing: Missing | null;
  page: Page;
  /** Called before records are read, with the id that the page starts after. */
  noteStart?: ((after: string | null) => Promise<void>) | undefined;
};
export type JsonObject<T> = Omit<JsonList<T>, "query"> & { query: ObjectQuery<T> };
/** A text that the handler reads, with headers beside those of its version. */
export type JsonText<T> = { kind: "text"; source: TextSource; readonly [shape]?: T };
type TextSource = {
  /** Returns (shown, version). */
  version: Statement<Record<string, unknown>>;
  params: Record<string, unknown>;
  missing: Missing | null;
  /** What makes it another text at the same version. */
  identity: unknown;
  read(
    db: Queryable,
    version: string | null,
  ): Promise<{ body: string; headers: (address: string) => Record<string, string> }>;
};
export type JsonMade<T> = { kind: "made"; make: () => Promise<T>; readVersion: ReadVersion | undefined };
type ReadVersion = () => Promise<string | null>;
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

export const answerMade = <T>(make: () => Promise<T>, readVersion?: ReadVersion): JsonMade<T> => ({
  kind: "made",
  make,
  readVersion,
});

export const answerText = <T>(source: TextSource): JsonText<T> => ({ kind: "text", source });

export const answerDone = <T extends Done>(work: () => Promise<T>): JsonDone<T> => ({ kind: "done", work });

export const answerList = <T, Params extends Record<string, unknown>>(
  query: ListQuery<T, Params>,
  params: Params,
  missing: Missing | null,
  page: Page = {},
): JsonList<T> => ({ kind: "list", query, params, missing, page });

export const answerObject = <T, Params extends Record<string, unknown>>(
  query: ObjectQuery<T, Params>,
  params: Params,
  missing: Missing,
): JsonObject<T> => ({ kind: "list", query, params, missing, page: {} });

/** Compiles only with a rule of visibility; `where` precedes the rule, `filter` follows it. */
type VisibleFrom = { where?: Sql; filter?: Sql } & (
  { from: Sql; visible: Visible } | { from: VisibleRows; visible?: undefined }
);

function fromAndWhere({ from, where, visible, filter }: VisibleFrom): Sql {
  const conditions = [where, visible, filter].filter((condition) => condition !== undefined);
  return sql`${from} WHERE ${conditions.length === 0 ? sql`true` : join(conditions, " AND ")}`;
}

export function makeReadQuery<T extends object>(
  name: string,
  { item, version, ...found }: { item: JsonSql<T>; version: Sql } & VisibleFrom,
): ReadQuery<T> {
  // The inner SELECTs hide the array lengths from the planner, which would otherwise plan each call anew.
  return named(
    name,
    ({ clients, ids }: Parameters<{ clients: string[]; ids: string[] }>) => sql`
    SELECT found.version, found.item
    FROM unnest((SELECT ${clients}::text[]), (SELECT ${ids}::uuid[])) WITH ORDINALITY AS asked (client, id, place)
    LEFT JOIN LATERAL (SELECT ${version} AS version, ${item} AS item FROM ${fromAndWhere(found)} OFFSET 0) AS found ON true
    ORDER BY place`,
  );
}

const named = <Params extends object>(name: string, build: (params: Parameters<Params>) => Sql): Named<Params> => ({
  ...statement(build),
  name,
});

/** Lists up to this length are read in one statement; longer ones stream. */
export const heldItems = 2000;

/** Larger batches of a stream would block other requests. */
const rowsAtOnce = 250;

type RowParts<T> = VisibleFrom & {
  item: JsonSql<T>;
  before?: Sql;
  sortKey: Sql;
  id: Sql;
  /** `from` already returns the rows in order; PostgreSQL would sort them all again. */
  comesInOrder?: boolean;
  limit?: Value;
};

type VersionParts = {
  shown?: Visible;
  /** A text for `readVersion`. */
  version: Sql;
};

type ListParts<T> = RowParts<T> & VersionParts;

const rowsOf = <T>(
  { item, before = sql``, sortKey, id, comesInOrder = false, limit, ...found }: RowParts<T>,
  most?: number,
) => {
  const limits = [limit, most].flatMap((count) => (count === undefined ? [] : [sql`${count}::bigint`]));
  return sql`${before} SELECT ${item} AS item FROM ${fromAndWhere(found)}
      ${comesInOrder ? sql`` : sql`ORDER BY ${sortKey}, ${id}`}
      ${limits.length === 0 ? sql`` : sql`LIMIT least(${join(limits)})`}`;
};

const versionOf = ({ shown, version }: VersionParts) =>
  sql`SELECT ${shown ?? sql`true`} AS shown, ${version} AS version`;

type Framed<Params extends object> = {
  open: string;
  rows: (params: Parameters<Params>) => RowParts<unknown>;
  close: string;
  rowsAtOnce?: number | undefined;
};

/**
 * Makes `version` (shown, version); `whole` (version, shown, count, body), counting each part to one more than
 * `heldItems`; and `rows` (item) of each part, for a cursor.
 */
function makeBodyQuery<Params extends object>(
  name: string,
  version: (params: Parameters<Params>) => VersionParts,
  { open, close, parts }: { open: string; close: string; parts: Record<string, Framed<Params>> },
): BodyQuery<Params> {
  const framed = Object.values(parts);
  const columns = framed.map((_part, index) => identifier(`part_${String(index)}`));
  // One statement is one snapshot. The aggregate keeps the order of the sorted subquery, as there is no join between.
  const whole = (params: Parameters<Params>) => {
    const from = framed.map(
      ({ rows }, index) => sql`(
      SELECT count(*)::int, coalesce(string_agg(t.item, ','), '') FROM (${rowsOf(rows(params), heldItems + 1)}) AS t
      ) AS ${columns[index]!} (count, items)`,
    );
    const texts = framed.map(
      (part, index) => sql`${literal(part.open)} || ${columns[index]!}.items || ${literal(part.close)}`,
    );
    const counts = columns.map((column) => sql`${column}.count`);
    return sql`
      SELECT v.version, v.shown, greatest(${join(counts)}), ${literal(open)} || ${join(texts, " || ',' || ")} || ${literal(close)}
      FROM (${versionOf(version(params))}) AS v, ${join(from)}`;
  };
  return {
    name,
    open,
    close,
    version: named<Params>(`${name}_version`, (params) => versionOf(version(params))),
    whole: named<Params>(name, whole),
    parts: Object.entries(parts).map(([part, { rows, ...frame }]) => ({
      open: frame.open,
      close: frame.close,
      rowsAtOnce: frame.rowsAtOnce ?? rowsAtOnce,
      rows: named<Params>(part === "" ? `${name}_rows` : `${name}_${part}_rows`, (params) => rowsOf(rows(params))),
    })),
  };
}

/**
 * Makes the statements that read a list ordered by sort key, then id: those of its body, and `page` and `nextPage`
 * (version, shown, item, sort key, id).
 */
export function makeListQuery<T extends object, Params extends object>(
  name: string,
  build: (params: Parameters<Params>) => ListParts<T>,
): ListQuery<T, Params> {
  const page = (parts: ListParts<T>, params: Parameters<Limit>, after: Sql) => {
    const { item, before = sql``, sortKey, id, ...found } = parts;
    // One row, so the order of the others stays.
    return sql`
    SELECT v.version, v.shown, t.item, t.sort_key, t.id FROM (${versionOf(parts)}) AS v LEFT JOIN LATERAL (
      ${before} SELECT ${item} AS item, ${sortKey} AS sort_key, ${id} AS id FROM ${fromAndWhere(found)} ${after}
      ORDER BY ${sortKey}, ${id} LIMIT ${params.limit}
    ) AS t ON true`;
  };
  const after = ({ sortKey, id }: ListParts<T>, { afterSortKey, afterId }: Parameters<After>) =>
    sql`AND (${sortKey}, ${id}) > (${afterSortKey}, ${afterId}::uuid)`;
  return {
    ...makeBodyQuery<Params>(name, build, {
      open: "",
      parts: { "": { open: "[", rows: build, close: "]" } },
      close: "",
    }),
    page: named<Params & Limit>(`${name}_page`, (params) => page(build(params), params, sql``)),
    nextPage: named<Params & Limit & After>(`${name}_next_page`, (params) => {
      const parts = build(params);
      return page(parts, params, after(parts, params));
    }),
  };
}

type One<T, Params extends object> = { one: (params: Parameters<Params>) => RowParts<T> };
type Many<T, Params extends object> = { list: (params: Parameters<Params>) => RowParts<T>; rowsAtOnce?: number };
type Property<T, Params extends object> = T extends readonly (infer Item)[] ? Many<Item, Params> : One<T, Params>;

/** Makes the statements that read an object of lists and single records. */
export function makeObjectQuery<T extends object, Params extends object>(
  name: string,
  version: (params: Parameters<Params>) => VersionParts,
  properties: { [Key in keyof T]?: Property<Exclude<T[Key], undefined>, Params> | false },
): ObjectQuery<T, Params> {
  const parts: Record<string, Framed<Params>> = {};
  for (const [key, property] of Object.entries(
    properties as Record<string, One<unknown, Params> | Many<unknown, Params> | false>,
  )) {
    if (property === false) continue;
    parts[key] =
      "one" in property
        ? { open: `"${key}":`, rows: property.one, close: "" }
        : { open: `"${key}":[`, rows: property.list, close: "]", rowsAtOnce: property.rowsAtOnce };
  }
  return makeBodyQuery<Params>(name, version, { open: "{", parts, close: "}" });
}
