import type { AppAttribute } from "../../generated/prisma/enums.ts";
import { jsonWhen, type JsonSql } from "../platform/database/json-sql.ts";
import { literal, sql, table, type Columns, type Parameter, type Sql, type Table } from "../platform/database/sql.ts";
import type { AccessToken } from "./token.ts";

// The registration of an app says how much of a record it may read. A reader of the APIs gets tables without the
// columns that are granted one by one, and reaches these through `granted` alone, which asks for the app.

export type { AppAttribute };

/** What an app can be granted to read, in the order in which it is shown. */
export const appAttributes: readonly AppAttribute[] = Object.keys({
  SCHOOL_ADDRESS: true,
  SCHOOL_LOCATION: true,
  SCHOOL_OFFICIAL_ID: true,
  SCHOOLING_LEVEL: true,
  PERSON_NAME: true,
  SOURCE_SYSTEM_IDENTIFIER: true,
} satisfies Record<AppAttribute, true>) as AppAttribute[];

/** The columns that an app reads only with an attribute. Sort keys of people hold their names. */
type Granted = {
  person: {
    PERSON_NAME: "firstFull" | "firstCall" | "last" | "sortKey";
    SOURCE_SYSTEM_IDENTIFIER: "sourceSystemIdentifier";
  };
  affiliation: { PERSON_NAME: "sortKey" };
  school: {
    SCHOOL_ADDRESS: "address" | "addressAddition" | "city" | "zipCode";
    SCHOOL_LOCATION: "country" | "state";
    SCHOOL_OFFICIAL_ID: "officialId";
    SCHOOLING_LEVEL: "schoolingLevel";
  };
};

declare const name: unique symbol;
type Whole<Name extends keyof Granted> = ReturnType<typeof table<Name>>;
type ColumnsOf<T> = T extends Table<infer Column> ? Column : never;
type GrantedOf<Name extends keyof Granted> = Granted[Name][keyof Granted[Name]] & string;

/** A table without the columns that are granted one by one. */
export type ReadTable<Name extends keyof Granted> = Table<Exclude<ColumnsOf<Whole<Name>>, GrantedOf<Name>>> & {
  readonly [name]: Name;
};

/** A table of people or schools as the readers of the APIs take it. */
export const readTable = <Name extends keyof Granted>(of: Name, alias: string): ReadTable<Name> =>
  table(of, alias) as unknown as ReadTable<Name>;

/** The app that reads: its client id, or its record where that is at hand. */
export type Reader = Sql | Parameter | Columns<"attributes">;

const app = table("app", "v_reader");

/**
 * The app was granted the attribute. Where a client id is a parameter or comes from an outer SELECT, its app is asked
 * for once and not for each row.
 */
export function isGranted(reader: Reader, attribute: AppAttribute): Sql {
  const holds = (attributes: Sql) => sql`${literal(attribute)} = ANY (${attributes})`;
  if ("attributes" in reader) return holds(reader.attributes);
  return sql`(SELECT ${holds(app.attributes)} FROM ${app} WHERE ${app.clientId} = ${reader})`;
}

type Under<Name extends keyof Granted, Attribute extends keyof Granted[Name]> = Columns<
  Granted[Name][Attribute] & string
>;

/** What is made of the columns of an attribute; null for an app that was not granted it. */
export const granted = <Name extends keyof Granted, Attribute extends keyof Granted[Name] & AppAttribute>(
  reader: Reader,
  attribute: Attribute,
  from: ReadTable<Name>,
  make: (columns: Under<Name, Attribute>) => Sql,
): Sql => sql`CASE WHEN ${isGranted(reader, attribute)} THEN ${make(columnsOf(from))} END`;

/** The same as JSON. */
export const jsonGranted = <Name extends keyof Granted, Attribute extends keyof Granted[Name] & AppAttribute, T>(
  reader: Reader,
  attribute: Attribute,
  from: ReadTable<Name>,
  make: (columns: Under<Name, Attribute>) => JsonSql<T>,
): JsonSql<T | null> => jsonWhen(isGranted(reader, attribute), make(columnsOf(from)));

const columnsOf = <Name extends keyof Granted, Attribute extends keyof Granted[Name]>(from: ReadTable<Name>) =>
  from as unknown as Under<Name, Attribute>;

/** By what a list of people is ordered: their names or, for an app that was not granted them, their ids. */
export type PeopleOrder = "name" | "id";

export const peopleOrders = ["name", "id"] as const satisfies readonly PeopleOrder[];

export const peopleOrderOf = ({ readsNames }: AccessToken): PeopleOrder => (readsNames ? "name" : "id");

/** The sort key of a person in a list of that order; `id` is the person's. */
export const peopleSortKey = (order: PeopleOrder, from: ReadTable<"person" | "affiliation">, id: Sql): Sql =>
  order === "name" ? (from as unknown as Columns<"sortKey">).sortKey : sql`(${id})::text COLLATE "C"`;
