import { AppAttribute } from "../../generated/prisma/enums.ts";
import { jsonWhen, type JsonSql } from "../platform/database/json-sql.ts";
import {
  literal,
  sql,
  table,
  type Columns,
  type Parameter,
  type Sql,
  type Table,
  type Value,
} from "../platform/database/sql.ts";
import { appIds, type IdKind } from "./pairwise.ts";
import type { AccessToken, ScopeName } from "./token.ts";

// Readers of the APIs get tables without the columns that an app's attributes protect, and reach these by `granted`.

export type { AppAttribute };

export const appAttributes: readonly AppAttribute[] = Object.values(AppAttribute);

/** The columns that each attribute protects. Sort keys of people contain their names. */
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
type ColumnsOf<Name extends keyof Granted> = keyof ReturnType<typeof table<Name>> & string;
type GrantedOf<Name extends keyof Granted> = Granted[Name][keyof Granted[Name]] & string;

type ReadTable<Name extends keyof Granted> = Table<Exclude<ColumnsOf<Name>, GrantedOf<Name>>> & {
  readonly [name]: Name;
};

export const readTable = <Name extends keyof Granted>(of: Name, alias: string): ReadTable<Name> =>
  table(of, alias) as unknown as ReadTable<Name>;

/** The reading app: its client id, or its record if the statement has it. */
type Reader = Sql | Parameter | Columns<"attributes">;

const app = table("app", "v_reader");

/** SQL condition. For a client id from a parameter or an outer SELECT it is evaluated once, not per row. */
export function isGranted(reader: Reader, attribute: AppAttribute): Sql {
  const holds = (attributes: Sql) => sql`${literal(attribute)} = ANY (${attributes})`;
  if ("attributes" in reader) return holds(reader.attributes);
  return sql`(SELECT ${holds(app.attributes)} FROM ${app} WHERE ${app.clientId} = ${reader})`;
}

/** SQL condition: the app's registration has the scope. */
export const hasScope = (client: Value, scope: ScopeName): Sql =>
  sql`(SELECT ${literal(scope)} = ANY (${app.scopes}) FROM ${app} WHERE ${app.clientId} = ${client})`;

type Under<Name extends keyof Granted, Attribute extends keyof Granted[Name]> = Columns<
  Granted[Name][Attribute] & string
>;

export const granted = <Name extends keyof Granted, Attribute extends keyof Granted[Name] & AppAttribute>(
  reader: Reader,
  attribute: Attribute,
  from: ReadTable<Name>,
  make: (columns: Under<Name, Attribute>) => Sql,
): Sql => sql`CASE WHEN ${isGranted(reader, attribute)} THEN ${make(columnsOf(from))} END`;

export const jsonGranted = <Name extends keyof Granted, Attribute extends keyof Granted[Name] & AppAttribute, T>(
  reader: Reader,
  attribute: Attribute,
  from: ReadTable<Name>,
  make: (columns: Under<Name, Attribute>) => JsonSql<T>,
): JsonSql<T | null> => jsonWhen(isGranted(reader, attribute), make(columnsOf(from)));

const columnsOf = <Name extends keyof Granted, Attribute extends keyof Granted[Name]>(from: ReadTable<Name>) =>
  from as unknown as Under<Name, Attribute>;

/** Lists of people are ordered by name, or by id for apps that may not read names; the ids are those of the app. */
export type PeopleOrder = { by: "name" | "id"; ids: IdKind };

export const peopleOrderOf = ({ readsNames, ids }: AccessToken): PeopleOrder => ({
  by: readsNames ? "name" : "id",
  ids,
});

/** Names statements that are made for each order. */
export const nameOfOrder = ({ by, ids }: PeopleOrder): string =>
  `${by === "id" ? "_by_id" : ""}${ids === "own" ? "_own_ids" : ""}`;

/** The columns of the order; `id` is the app's id of the person. */
export function peopleOrder(
  { by, ids }: PeopleOrder,
  client: Value,
  from: ReadTable<"person" | "affiliation">,
  personId: Sql,
): { sortKey: Sql; id: Sql } {
  const id = appIds[ids].of(client, personId);
  const sortKey = by === "name" ? (from as unknown as Columns<"sortKey">).sortKey : sql`(${id})::text COLLATE "C"`;
  return { sortKey, id };
}
