import {
  columnNames,
  identifier,
  insert,
  join,
  sql,
  type NewRow,
  type Parameters,
  type Sql,
  type TableName,
} from "../platform/database/sql.ts";

export type Columns<Row> = { [Name in keyof Row]: readonly unknown[] };

type Types<Name extends string> = Readonly<Record<Name, "bigint" | "int" | "jsonb" | "text" | "timestamptz" | "uuid">>;

const namesIn = <Name extends string>(types: Types<Name>) => Object.keys(types) as Name[];

export const columnsOf = <Row extends object>(
  rows: readonly Row[],
  types: Types<keyof Row & string>,
): Record<keyof Row & string, unknown[]> =>
  Object.fromEntries(namesIn(types).map((name) => [name, rows.map((row) => row[name])])) as Record<
    keyof Row & string,
    unknown[]
  >;

export const unnest = <Name extends string>(columns: Parameters<Record<Name, unknown>>, types: Types<Name>): Sql =>
  sql`unnest(${join(namesIn(types).map((name) => sql`${columns[name]}::${identifier(types[name])}[]`))})`;

/** INSERT of the columns; `then` follows the relation, whose alias is `line`. */
export function insertRows<Table extends TableName, Name extends keyof NewRow<Table> & string>(
  table: Table,
  columns: Parameters<Record<Name, unknown>>,
  { types, then }: { types: Types<Name>; then: Sql },
): Sql {
  const nameOf = (name: Name) => columnNames(table, name as never);
  const row = Object.fromEntries(namesIn(types).map((name) => [name, sql`line.${nameOf(name)}`]));
  const relation = sql`${unnest(columns, types)} AS line (${join(namesIn(types).map(nameOf))})`;
  return insert(table, row as NewRow<Table>, sql`FROM ${relation} ${then}`);
}
