import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import type { ProgressStep } from "../progress-bar.ts";
import { findRows, makeFind, sql, statement } from "../../platform/database/sql.ts";
import { sealedColumns } from "../../../generated/tables/stored-data.ts";
import type { Matcher, What } from "./matcher.ts";
import { scan, type FoundRow } from "./scan.ts";

type SearchedTable = {
  schema: string;
  name: string;
  /** The partitioned table for a partition, otherwise the table itself. */
  whole: string;
  kind: "r" | "m" | "f";
  columns: string[];
  /** The columns of type bytea. */
  binary: string[];
  bytes: number;
};

// Temporary tables of other sessions cannot be read; they end with their transaction.
export const findTables = makeFind<SearchedTable>(
  () => sql`
  SELECT n.nspname AS schema, c.relname AS name, c.relkind AS kind, pg_relation_size(c.oid)::float8 AS bytes,
    COALESCE((SELECT whole.relname FROM pg_class whole WHERE whole.oid = pg_partition_root(c.oid)), c.relname) AS whole,
    ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      ORDER BY a.attnum) AS columns,
    ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      AND a.atttypid = 'bytea'::regtype) AS binary
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'm', 'f') AND c.relpersistence <> 't'
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  ORDER BY n.nspname, c.relname`,
);

/** Rows of an encrypted column that no key opens. */
type Unopened = { column: string; rows: number };

const countLargeObjects = statement(() => sql`SELECT count(*)::int AS count FROM pg_largeobject_metadata`);

export type DatabaseSearch = {
  at: Date;
  tables: SearchedTable[];
  rows: number;
  unopened: Unopened[];
  largeObjects: number;
};

const pageBytes = 8192;
const pagesAtOnce = 2000;
/** A statement reads 16 MB of a table, and what it keeps outside its pages. */
const statementLimit = "5min";

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The sampled values by which queries are planned; their columns are those of the table that they are of. */
export const statisticsTable = "pg_stats";
const statisticsColumns = ["schemaname", "tablename", "attname", "most_common_vals", "histogram_bounds"];

type Sealed = (typeof sealedColumns)[number];
export type Open = (of: Sealed, purpose: string, value: Buffer) => Buffer | null;

const sealedOf = (table: string): Sealed[] =>
  sealedColumns.filter(({ purpose, column }) => purpose !== null && column.startsWith(`${table}.`));
const columnOf = ({ column }: Sealed): string => column.split(".")[1]!;

type SealedRow = { purpose: string; value: Buffer; fields: Record<string, string | number | null> };

async function searchSealed(
  client: pg.ClientBase,
  { sealed, from, matcher, open }: { sealed: Sealed; from: string; matcher: Matcher; open: Open },
): Promise<{ matches: Set<What>; isOpen: boolean; read: FoundRow["read"] }[]> {
  const column = quote(columnOf(sealed));
  const { rows } = await client.query<SealedRow>(
    `SELECT ${sealed.purpose} AS purpose, ${column} AS value, to_jsonb(sealed_row) AS fields ${from} AND ${column} <> ''`,
  );
  return rows.map(({ purpose, value, fields }) => {
    const plain = open(sealed, purpose, value);
    const read = (name: string) => fields[name]?.toString() ?? null;
    return { matches: plain === null ? new Set<What>() : matcher.find(plain), isOpen: plain !== null, read };
  });
}

/** Searches each column of each table in one snapshot, in parts of a table, so that no statement lasts long. */
export async function searchDatabase(
  client: pg.ClientBase,
  options: {
    matcher: Matcher;
    onRow(row: FoundRow, table: SearchedTable | null): void;
    show(step: ProgressStep): void;
    open: Open;
  },
): Promise<DatabaseSearch> {
  const { matcher, onRow, show, open } = options;
  const unopened = new Map<string, number>();
  await client.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  // Row security would leave rows out silently; off, it is an error.
  await client.query(`SET LOCAL row_security = off; SET LOCAL statement_timeout = '${statementLimit}'`);
  const { rows: times } = await client.query<{ at: Date }>("SELECT now() AS at");
  const tables = await findTables(client, {});
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let [rows, done] = [0, 0];
  for (const table of tables.filter(({ kind, columns }) => kind !== "f" && columns.length > 0)) {
    const { schema, name, columns, whole, bytes } = table;
    const section = { table: whole, columns };
    const of = `${columns.map(quote).join(", ")} FROM ONLY ${quote(schema)}.${quote(name)}`;
    for (let page = 0; page * pageBytes < bytes; page += pagesAtOnce) {
      show({ label: "Database", done: Math.min(total, done + page * pageBytes), total, unit: "bytes" });
      const part = `ctid >= '(${page},0)'::tid AND ctid < '(${page + pagesAtOnce},0)'::tid`;
      const stream = client.query(copyTo(`COPY (SELECT ${of} WHERE ${part}) TO STDOUT`));
      rows += await scan(stream, { matcher, section, onRow: (row) => onRow(row, table) });
      for (const sealed of sealedOf(whole)) {
        const from = `FROM ONLY ${quote(schema)}.${quote(name)} AS sealed_row WHERE ${part}`;
        for (const { matches, isOpen, read } of await searchSealed(client, { sealed, from, matcher, open })) {
          if (!isOpen) unopened.set(sealed.column, (unopened.get(sealed.column) ?? 0) + 1);
          if (matches.size > 0)
            onRow({ section, line: 1, matches: new Map([[columnOf(sealed), matches]]), read }, table);
        }
      }
    }
    done += bytes;
  }
  show({ label: "Database", done: total, total, unit: "bytes" });
  const statistics = `COPY (SELECT ${statisticsColumns.map((column) => `${column}::text`).join(", ")} FROM pg_stats
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')) TO STDOUT`;
  const section = { table: statisticsTable, columns: statisticsColumns };
  await scan(client.query(copyTo(statistics)), { matcher, section, onRow: (row) => onRow(row, null) });
  const [{ count: largeObjects } = { count: 0 }] = await findRows<{ count: number }>(client, countLargeObjects, {});
  const rowsUnopened = [...unopened].map(([column, of]) => ({ column, rows: of }));
  return { at: times[0]!.at, tables, rows, unopened: rowsUnopened, largeObjects };
}
