import type pg from "pg";
import { Sql, empty, join, raw } from "sql-template-tag";
import { tables, type Required } from "../../../generated/tables/index.ts";

// Named SQL with tables and columns from prisma/schema: SQL that names a renamed or removed column does not compile.

export { Sql, empty, join };

export type Queryable = Pick<pg.ClientBase, "query">;

type Tables = typeof tables;
type TableName = keyof Tables;
type ColumnsOf<Name extends TableName> = keyof Tables[Name]["columns"];

export class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const from = Symbol("from");
type Aliased = { readonly [from]: Sql };

/** A table under an alias: itself in FROM, its columns as properties. */
export type Table<Column extends string = never> = Aliased & { readonly [Name in Column]: Sql };

export type Part = Sql | Aliased | Parameter | number;

export type Value = Sql | Parameter;

export type Columns<Column extends string> = { readonly [Name in Column]: Sql };

/** Composes SQL from SQL, tables, parameters and integers; outside text cannot get in. */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  return new Sql(strings, parts.map(toValue));
}

function toValue(part: Part): unknown {
  if (typeof part === "number") return raw(String(part));
  return part instanceof Sql || part instanceof Parameter ? part : part[from];
}

export const literal = (text: string): Sql => raw(`'${text.replaceAll("'", "''")}'`);

export function identifier(name: string): Sql {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(name)) throw new Error(`${name} is not an SQL identifier.`);
  return raw(name);
}

export function table<Name extends TableName>(name: Name, alias?: string): Table<ColumnsOf<Name> & string> {
  const { name: tableName, columns } = tables[name];
  return aliased(raw(alias === undefined ? tableName : `${tableName} ${alias}`), alias ?? tableName, columns) as Table<
    ColumnsOf<Name> & string
  >;
}

function aliased(source: Sql, alias: string, columns: Readonly<Record<string, string>>): Aliased {
  const named = Object.entries(columns).map(([field, column]) => [field, raw(`${alias}.${column}`)] as const);
  return Object.assign(Object.fromEntries(named), { [from]: source }) as Aliased;
}

type TemporaryTable<Column extends string> = {
  create: Sql;
  as(alias?: string): Table<Column>;
  insert(columns: { readonly [Name in Column]?: Part | undefined }, source: Sql): Sql;
};

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
    as: (alias) =>
      aliased(raw(alias === undefined ? name : `${name} ${alias}`), alias ?? name, columns) as Table<Column>,
    insert: (row, source) => insertColumns(name, columns, row, source),
  };
}

export const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export type NewRow<Name extends TableName> = { readonly [Field in Required[Name]]: Part } & {
  readonly [Field in ColumnsOf<Name>]?: Part;
};

export function insert<Name extends TableName>(name: Name, row: NewRow<Name>, source?: Sql): Sql {
  return insertColumns(tables[name].name, columnsOf(name), row, source);
}

function insertColumns(name: string, columns: Readonly<Record<string, string>>, row: object, source?: Sql): Sql {
  const entries = definedEntries(row);
  const names = raw(entries.map(([field]) => columns[field]!).join(", "));
  const values = join(entries.map(([, value]) => toValue(value)));
  const head = sql`INSERT INTO ${raw(name)} (${names})`;
  return source === undefined ? sql`${head} VALUES (${values})` : sql`${head} SELECT ${values} ${source}`;
}

export function update<Name extends TableName>(
  name: Name,
  alias: string,
  values: { readonly [Field in ColumnsOf<Name>]?: Part | undefined },
): Sql {
  const columns = columnsOf(name);
  const set = definedEntries(values).map(([field, value]) => sql`${raw(columns[field]!)} = ${value}`);
  return sql`UPDATE ${raw(`${tables[name].name} ${alias}`)} SET ${join(set)}`;
}

const columnsOf = (name: TableName): Readonly<Record<string, string>> => tables[name].columns;

const definedEntries = (row: object): [field: string, value: Part][] =>
  Object.entries(row as Record<string, Part>).filter(([, value]) => value !== undefined);

export const fields = <Row extends object>(row: { readonly [Field in keyof Row]-?: Part }): Sql =>
  join(Object.entries<Part>(row).map(([name, value]) => sql`${value} AS ${raw(`"${name}"`)}`));

/** The named columns of a table or alias, for `fields`. */
export const pick = <Column extends string, Name extends Column>(from: Columns<Column>, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, from[name]])) as Columns<Name>;

export function columnNames<Name extends TableName>(name: Name, ...names: readonly (ColumnsOf<Name> & string)[]): Sql {
  const columns = columnsOf(name);
  return raw(names.map((field) => columns[field]!).join(", "));
}

export type Statement<Params extends object> = {
  readonly text: string;
  readonly name?: string;
  values(params: Params): unknown[];
};

export type Parameters<Params extends object> = { readonly [Name in keyof Params]-?: Parameter };

type Build<Params extends object> = (params: Parameters<Params>) => Sql;

type MakePart<Params extends object> = (params: Parameters<Params>) => Part;
type StatementPart<Params extends object> = Part | (keyof Params & string) | MakePart<Params>;

/** SQL in which `${"id"}` is the parameter `id`; a function makes SQL of the parameters. */
type StatementTag<Params extends object, Made> = (
  strings: TemplateStringsArray,
  ...parts: readonly StatementPart<Params>[]
) => Made;

/** Makes a statement: `statement(({ id }) => sql`…`, "name")`, or shorter `statement("name")`… ${"id"}``. */
export function statement<Params extends object = object>(build: Build<Params>, name?: string): Statement<Params>;
export function statement<Params extends object = object>(name?: string): StatementTag<Params, Statement<Params>>;
export function statement<Params extends object>(build?: Build<Params> | string, name?: string) {
  return makeStatement<Params, Statement<Params>>(build, name, (made) => made);
}

function makeStatement<Params extends object, Made>(
  build: Build<Params> | string | undefined,
  name: string | undefined,
  use: (made: Statement<Params>) => Made,
): Made | StatementTag<Params, Made> {
  const make = (build: Build<Params>, as: string | undefined) => {
    const { text, names } = render(build(makeParameters<Params>()));
    const values = (params: Params) => names.map((field) => (params as Record<string, unknown>)[field]);
    return use(as === undefined ? { text, values } : { text, name: as, values });
  };
  if (typeof build === "function") return make(build, name);
  return (strings, ...parts) => make((params) => sql(strings, ...parts.map((part) => toPart(part, params))), build);
}

function toPart<Params extends object>(part: StatementPart<Params>, params: Parameters<Params>): Part {
  if (typeof part === "string") return params[part];
  return typeof part === "function" ? (part as MakePart<Params>)(params) : part;
}

function makeParameters<Params extends object>(): Parameters<Params> {
  const made = new Map<string, Parameter>();
  const get = (name: string) => made.get(name) ?? made.set(name, new Parameter(name)).get(name);
  return new Proxy({}, { get: (_target, name) => get(String(name)) }) as Parameters<Params>;
}

export function render(query: Sql, names: string[] = []): { text: string; names: string[] } {
  const place = (value: unknown): string => {
    if (!(value instanceof Parameter)) throw new Error("A value was put into SQL that is not a parameter.");
    const index = names.indexOf(value.name);
    return `$${index === -1 ? names.push(value.name) : index + 1}`;
  };
  const text = query.strings.reduce((before, after, index) => before + place(query.values[index - 1]) + after);
  return { text, names };
}

export function makeRowLock<Name extends TableName>(
  name: Name,
  key: ColumnsOf<Name> & string,
  statementName: string,
): (tx: Queryable, value: string) => Promise<void> {
  const column = columnsOf(name)[key]!;
  const lock = statement<{ value: string }>(
    ({ value }) => sql`SELECT FROM ${raw(tables[name].name)} WHERE ${raw(column)} = ${value} FOR NO KEY UPDATE`,
    statementName,
  );
  return async (tx, value) => void (await run(tx, lock, { value }));
}

const [typed, plain] = [literal("ıİłøđ’‘ʼʻʹ´`\u0307"), literal("iilod'''''''")];

/** A text as searches compare it: case, apostrophes and letters that many keyboards do not have make no difference. */
export const searched = (text: Part): Sql => sql`replace(translate(lower(${text}), ${typed}, ${plain}), 'ß', 'ss')`;

/** Waits until no other transaction holds the lock of this name. */
export const lockName = makeRun<{ name: string }>(
  ({ name }) => sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`,
  "database.lockName",
);

type Limit = { lock: () => Promise<unknown>; count: () => Promise<number>; most: number; full: () => Error };

/** Throws if there are `most` already. The lock lasts until the transaction ends, so that counts take turns. */
export async function checkLimit({ lock, count, most, full }: Limit): Promise<void> {
  await lock();
  if ((await count()) >= most) throw full();
}

export const toQuery = <Params extends object>({ text, name, values }: Statement<Params>, params: Params) => ({
  text,
  values: values(params),
  ...(name === undefined ? {} : { name }),
});

export async function findRows<Row extends Record<string, unknown>, Params extends object = object>(
  db: Queryable,
  statement: Statement<Params>,
  params: Params,
): Promise<Row[]> {
  return (await db.query<Row>(toQuery(statement, params))).rows;
}

export async function run<Params extends object = object>(
  db: Queryable,
  statement: Statement<Params>,
  params: Params,
): Promise<number> {
  return (await db.query(toQuery(statement, params))).rowCount ?? 0;
}

type Find<Row, Params> = (db: Queryable, params: Params) => Promise<Row[]>;
type FindOne<Row, Params> = (db: Queryable, params: Params) => Promise<Row>;
type Run<Params> = (db: Queryable, params: Params) => Promise<number>;
type AnyRow = Record<string, unknown>;

/** Makes a function that runs a statement, written as for `statement`, and returns its rows. */
export function makeFind<Row extends AnyRow, Params extends object = object>(
  build: Build<Params>,
  name?: string,
): Find<Row, Params>;
export function makeFind<Row extends AnyRow, Params extends object = object>(
  name?: string,
): StatementTag<Params, Find<Row, Params>>;
export function makeFind<Row extends AnyRow, Params extends object>(build?: Build<Params> | string, name?: string) {
  return makeStatement<Params, Find<Row, Params>>(
    build,
    name,
    (made) => (db, params) => findRows<Row, Params>(db, made, params),
  );
}

/** Likewise for a statement that always returns one row. */
export function makeFindOne<Row extends AnyRow, Params extends object = object>(
  build: Build<Params>,
  name?: string,
): FindOne<Row, Params>;
export function makeFindOne<Row extends AnyRow, Params extends object = object>(
  name?: string,
): StatementTag<Params, FindOne<Row, Params>>;
export function makeFindOne<Row extends AnyRow, Params extends object>(build?: Build<Params> | string, name?: string) {
  return makeStatement<Params, FindOne<Row, Params>>(build, name, (made) => async (db, params) => {
    const [row] = await findRows<Row, Params>(db, made, params);
    return row!;
  });
}

/** Likewise; returns how many rows the statement changed. */
export function makeRun<Params extends object = object>(build: Build<Params>, name?: string): Run<Params>;
export function makeRun<Params extends object = object>(name?: string): StatementTag<Params, Run<Params>>;
export function makeRun<Params extends object>(build?: Build<Params> | string, name?: string) {
  return makeStatement<Params, Run<Params>>(build, name, (made) => (db, params) => run(db, made, params));
}

/** SQL: a UUIDv7 for each row, as crypto/ids.ts makes it: the time, then random bits. */
export const newId = (now: Part): Sql => sql`encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  PLACING substring(int8send((extract(epoch FROM ${now}::timestamptz) * 1000)::bigint) FROM 3)
  FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid`;

// SQL whose plan does not depend on statistics: OFFSET 0 keeps PostgreSQL from flattening the inner SELECT and
// reordering its joins. The inner condition must match one index.

export const exists = (from: Sql): Sql => sql`EXISTS (SELECT FROM ${from} OFFSET 0)`;

/** `condition` may use the alias and the tables before it. */
export function lookUp(name: TableName, alias: string, condition: Sql): Sql {
  const as = identifier(alias);
  return sql`CROSS JOIN LATERAL (SELECT ${as}.* FROM ${table(name, alias)} WHERE ${condition} OFFSET 0) AS ${as}`;
}

type SqlType = "bigint" | "bytea" | "int" | "jsonb" | "text" | "timestamptz" | "uuid";

/** Hides the array's length from the planner, which would plan every call with a short array anew. */
export const arrayOf = (parameter: Parameter, type: SqlType): Sql => sql`(SELECT ${parameter}::${raw(type)}[])`;

/** JSON of rows of a table, for `tableRows`. */
export const toJsonRows = (name: TableName, rows: readonly object[]): string =>
  JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([field, value]: [string, unknown]) => [columnsOf(name)[field]!, value]),
      ),
    ),
  );

/** The rows that `toJsonRows` wrote as a relation for FROM, with the types of the table's columns. */
export const tableRows = <Name extends TableName>(parameter: Parameter, alias: string, name: Name) =>
  aliased(
    sql`jsonb_populate_recordset(NULL::${raw(tables[name].name)}, ${parameter}::jsonb) AS ${raw(alias)}`,
    alias,
    columnsOf(name),
  ) as Table<ColumnsOf<Name> & string>;

/** A JSON array of objects as a relation for FROM; `columns` are the fields of the objects. */
export function jsonRows<Field extends string>(
  parameter: Parameter,
  alias: string,
  types: Readonly<Record<Field, SqlType>>,
): { from: Sql; columns: { readonly [Name in Field]: Sql } } {
  const names = Object.entries<SqlType>(types);
  const described = names.map(([field, type]) => `"${field}" ${type}`).join(", ");
  const columns = names.map(([field]) => [field, raw(`${alias}."${field}"`)] as const);
  return {
    from: sql`jsonb_to_recordset(${parameter}::jsonb) AS ${raw(`${alias} (${described})`)}`,
    columns: Object.fromEntries(columns) as { [Name in Field]: Sql },
  };
}

/** SQL that commits without waiting for the disk: a database crash may lose what the transaction wrote. */
export const asynchronous = sql`(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL`;
