import { Sql, empty, join, raw } from "sql-template-tag";
import { tables, type Required } from "../../../generated/tables/index.ts";
import type { Queryable } from "./db.ts";

// Named SQL whose tables and columns come from prisma/schema: SQL that names a column which was renamed or removed does
// not compile.

export { Sql, empty, join };

type Tables = typeof tables;
export type TableName = keyof Tables;
type ColumnsOf<Name extends TableName> = keyof Tables[Name]["columns"];

/** A value that a statement is given when it runs; used twice, it is one parameter. */
export class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const from = Symbol("from");
type Aliased = { readonly [from]: Sql };

/** A table under an alias: itself in FROM, its columns by their names in the schema. */
export type Table<Column extends string = never> = Aliased & { readonly [Name in Column]: Sql };

export type Part = Sql | Aliased | Parameter | number;

/** A column, a parameter or an expression. */
export type Value = Sql | Parameter;

/** Columns of a table under an alias, or of a subquery that has them. */
export type Columns<Column extends string> = { readonly [Name in Column]: Sql };

/** A piece of SQL out of pieces of SQL, tables, parameters and whole numbers; text from outside cannot get in. */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  return new Sql(strings, parts.map(toValue));
}

function toValue(part: Part): unknown {
  if (typeof part === "number") return raw(String(part));
  return part instanceof Sql || part instanceof Parameter ? part : part[from];
}

/** Text of this code base as an SQL literal. */
export const literal = (text: string): Sql => raw(`'${text.replaceAll("'", "''")}'`);

/** A name that a statement gives itself: a column or an alias of a subquery, or a column behind its alias. */
export function identifier(name: string): Sql {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(name)) throw new Error(`${name} is not an SQL identifier.`);
  return raw(name);
}

/** A table of the schema, under an alias where one is given. */
export function table<Name extends TableName>(name: Name, alias?: string): Table<ColumnsOf<Name> & string> {
  const { name: tableName, columns } = tables[name];
  return aliased(alias === undefined ? tableName : `${tableName} ${alias}`, alias ?? tableName, columns) as Table<
    ColumnsOf<Name> & string
  >;
}

function aliased(text: string, alias: string, columns: Readonly<Record<string, string>>): Aliased {
  const named = Object.entries(columns).map(([field, column]) => [field, raw(`${alias}.${column}`)] as const);
  return Object.assign(Object.fromEntries(named), { [from]: raw(text) }) as Aliased;
}

export type TemporaryTable<Column extends string> = {
  /** CREATE TEMPORARY TABLE, for one transaction. */
  create: Sql;
  as(alias?: string): Table<Column>;
  insert(columns: { readonly [Name in Column]?: Part | undefined }, source: Sql): Sql;
};

/** A table that a transaction makes for itself. Shape: the columns by field, with their SQL types. */
export function temporaryTable<Column extends string>(
  name: string,
  types: Readonly<Record<Column, string>>,
  primaryKey: readonly NoInfer<Column>[] = [],
): TemporaryTable<Column> {
  const columns = Object.fromEntries(Object.keys(types).map((field) => [field, toSnakeCase(field)]));
  const described = Object.entries<string>(types).map(([field, type]) => `${columns[field]!} ${type}`);
  if (primaryKey.length > 0) described.push(`PRIMARY KEY (${primaryKey.map((field) => columns[field]!).join(", ")})`);
  return {
    create: raw(`CREATE TEMPORARY TABLE ${name} (${described.join(", ")}) ON COMMIT DROP`),
    as: (alias) => aliased(alias === undefined ? name : `${name} ${alias}`, alias ?? name, columns) as Table<Column>,
    insert: (given, source) => insertColumns(name, columns, given, source),
  };
}

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Values for the columns of a new row: those without a default must be there. */
export type NewRow<Name extends TableName> = { readonly [Field in Required[Name]]: Part } & {
  readonly [Field in ColumnsOf<Name>]?: Part;
};

/** INSERT INTO a table, of the values as they stand or, with `source` (FROM and what follows), of a SELECT. */
export function insert<Name extends TableName>(name: Name, row: NewRow<Name>, source?: Sql): Sql {
  return insertColumns(tables[name].name, tables[name].columns, row as Record<string, Part>, source);
}

function insertColumns(
  name: string,
  columns: Readonly<Record<string, string>>,
  row: Readonly<Record<string, Part | undefined>>,
  source?: Sql,
): Sql {
  const given = Object.entries(row).filter((entry): entry is [string, Part] => entry[1] !== undefined);
  const names = raw(given.map(([field]) => columns[field]!).join(", "));
  const values = join(given.map(([, value]) => toValue(value)));
  const head = sql`INSERT INTO ${raw(name)} (${names})`;
  return source === undefined ? sql`${head} VALUES (${values})` : sql`${head} SELECT ${values} ${source}`;
}

/** UPDATE of a table under the alias, with what is set; FROM and WHERE follow. */
export function update<Name extends TableName>(
  name: Name,
  alias: string,
  values: { readonly [Field in ColumnsOf<Name>]?: Part | undefined },
): Sql {
  const { name: tableName, columns } = tables[name];
  const given = Object.entries(values as Record<string, Part | undefined>).filter(
    (entry): entry is [string, Part] => entry[1] !== undefined,
  );
  const set = given.map(([field, value]) => sql`${raw((columns as Record<string, string>)[field]!)} = ${sqlOf(value)}`);
  return sql`UPDATE ${raw(`${tableName} ${alias}`)} SET ${join(set)}`;
}

const sqlOf = (part: Part): Sql => sql`${part}`;

/** What a SELECT answers, by name: every field of the row that is expected, and no other. */
export const fields = <Row extends object>(row: { readonly [Field in keyof Row]-?: Part }): Sql =>
  join(Object.entries<Part>(row).map(([name, value]) => sql`${value} AS ${raw(`"${name}"`)}`));

/** Columns as SQL names them without a table, for RETURNING, ON CONFLICT and the like. */
export function columnNames<Name extends TableName>(name: Name, ...names: readonly (ColumnsOf<Name> & string)[]): Sql {
  const columns = tables[name].columns as Readonly<Record<string, string>>;
  return raw(names.map((field) => columns[field]!).join(", "));
}

/** SQL that runs with values by name; with a name of its own the server keeps its plan. */
export type Statement<Given extends object> = {
  readonly text: string;
  readonly name?: string;
  values(given: Given): unknown[];
};

export type Parameters<Given extends object> = { readonly [Name in keyof Given]-?: Parameter };

/** Makes a statement. Shape: `build` gets the parameters by name. Parameters are numbered by their first use. */
export function statement<Given extends object = object>(
  build: (given: Parameters<Given>) => Sql,
  name?: string,
): Statement<Given> {
  const { text, names } = render(build(makeParameters<Given>()));
  const values = (given: Given) => names.map((field) => (given as Record<string, unknown>)[field]);
  return name === undefined ? { text, values } : { text, name, values };
}

/** Parameters by any name. */
function makeParameters<Given extends object>(): Parameters<Given> {
  const made = new Map<string, Parameter>();
  const get = (name: string) => made.get(name) ?? made.set(name, new Parameter(name)).get(name);
  return new Proxy({}, { get: (_target, name) => get(String(name)) }) as Parameters<Given>;
}

/** The text with `$n` for each parameter, and the parameters' names in that order. */
export function render(query: Sql, names: string[] = []): { text: string; names: string[] } {
  const place = (value: unknown): string => {
    if (!(value instanceof Parameter)) throw new Error("A value was put into SQL that is not a parameter.");
    const index = names.indexOf(value.name);
    return `$${index === -1 ? names.push(value.name) : index + 1}`;
  };
  const text = query.strings.reduce((before, after, index) => before + place(query.values[index - 1]) + after);
  return { text, names };
}

/** Runs a statement and answers its rows. */
export async function findRows<Row extends Record<string, unknown>, Given extends object = object>(
  db: Queryable,
  { text, name, values }: Statement<Given>,
  given: Given,
): Promise<Row[]> {
  const { rows } = await db.query<Row>({ text, values: values(given), ...(name === undefined ? {} : { name }) });
  return rows;
}

/** Runs a statement and answers how many rows it met. */
export async function run<Given extends object = object>(
  db: Queryable,
  { text, name, values }: Statement<Given>,
  given: Given,
): Promise<number> {
  const { rowCount } = await db.query({ text, values: values(given), ...(name === undefined ? {} : { name }) });
  return rowCount ?? 0;
}
