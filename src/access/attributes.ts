import { AppAttribute } from "../../generated/prisma/enums.ts";
import { jsonWhen, type JsonSql } from "../platform/database/json-sql.ts";
import { literal, makeFind, makeFindOne, sql, table } from "../platform/database/sql.ts";
import type { Columns, Queryable, Sql, Table, Value } from "../platform/database/sql.ts";
import { appIds } from "./pairwise.ts";
import type { AccessToken, ClientId, IdKind, NamesRead, ScopeName } from "./token.ts";
import { isAnythingWithheld, isWithheldAnywhere, isWithheldAt, isWithheldFrom, isWithheldOf } from "./withheld-sql.ts";
import type { PeopleReader } from "./withheld-sql.ts";

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

type Protected = "person" | "school";

const ofPeople: readonly AppAttribute[] = ["PERSON_NAME", "SOURCE_SYSTEM_IDENTIFIER"];

/** An app's record and, for one person or one school, the items that are withheld there. */
type RecordReader = Columns<"attributes"> & { held: Sql };

/** The reading app: its client id, or its record if the statement has it. */
type Reader = Value | PeopleReader | Columns<"attributes" | "clientId"> | RecordReader;

const app = table("app", "v_reader");

/** SQL condition: the app has the attribute. Evaluated once for a client id from a parameter or an outer SELECT. */
function isGranted(reader: Reader, attribute: AppAttribute): Sql {
  const holds = (attributes: Sql) => sql`${literal(attribute)} = ANY (${attributes})`;
  if ("attributes" in reader) return holds(reader.attributes);
  const client = "client" in reader ? reader.client : reader;
  return sql`(SELECT ${holds(app.attributes)} FROM ${app} WHERE ${app.clientId} = ${client})`;
}

/** SQL condition: the app has the attribute, and no school of the record withholds it. */
function isReadable(reader: Reader, attribute: AppAttribute, from: object): Sql {
  return sql`(${isGranted(reader, attribute)} AND NOT ${isWithheld(reader, attribute, from as Columns<"id">)})`;
}

function isWithheld(reader: Reader, attribute: AppAttribute, { id }: Columns<"id">): Sql {
  if ("client" in reader) return isWithheldOf(reader, attribute, id);
  if ("held" in reader) return sql`${literal(attribute)} = ANY (${reader.held})`;
  const [client, isAny] =
    "attributes" in reader ? [reader.clientId, isAnythingWithheld] : [reader, isWithheldAnywhere(reader, attribute)];
  const holds = ofPeople.includes(attribute) ? isWithheldFrom : isWithheldAt;
  return sql`(${isAny} AND ${holds(client, attribute, id)})`;
}

/** SQL condition: the app's registration has the scope, and no school of the person withholds it. */
export const givesScope = (reader: PeopleReader, scope: ScopeName, personId: Sql): Sql => sql`(
  (SELECT ${literal(scope)} = ANY (${app.scopes}) FROM ${app} WHERE ${app.clientId} = ${reader.client})
  AND NOT ${isWithheldOf(reader, scope, personId)})`;

type Under<Name extends keyof Granted, Attribute extends keyof Granted[Name]> = Columns<
  Granted[Name][Attribute] & string
>;

export const granted = <Name extends Protected, Attribute extends keyof Granted[Name] & AppAttribute>(
  reader: Reader,
  attribute: Attribute,
  from: ReadTable<Name>,
  make: (columns: Under<Name, Attribute>) => Sql,
): Sql => sql`CASE WHEN ${isReadable(reader, attribute, from)} THEN ${make(columnsOf(from))} END`;

export const jsonGranted = <Name extends Protected, Attribute extends keyof Granted[Name] & AppAttribute, T>(
  reader: Reader,
  attribute: Attribute,
  from: ReadTable<Name>,
  make: (columns: Under<Name, Attribute>) => JsonSql<T>,
): JsonSql<T | null> => jsonWhen(isReadable(reader, attribute, from), make(columnsOf(from)));

const columnsOf = <Name extends keyof Granted, Attribute extends keyof Granted[Name]>(from: ReadTable<Name>) =>
  from as unknown as Under<Name, Attribute>;

/** SQL value: whose names the app may read. */
export const namesReadBy = (reader: Columns<"attributes" | "clientId">): Sql => sql`
  CASE WHEN NOT ${isGranted(reader, "PERSON_NAME")} THEN 'none'
    WHEN ${isWithheldAnywhere(reader.clientId, "PERSON_NAME")} THEN 'some' ELSE 'all' END`;

/** Lists of people are ordered by name as far as the app may read names, otherwise by the app's ids. */
export type PeopleOrder = { by: NamesRead; ids: IdKind };

export const peopleOrderOf = ({ namesRead, ids }: AccessToken): PeopleOrder => ({ by: namesRead, ids });

const orderNames: Record<NamesRead, string> = { all: "", some: "_by_some_names", none: "_by_id" };

/** Names statements that are made for each order. */
export const nameOfOrder = ({ by, ids }: PeopleOrder): string => orderNames[by] + (ids === "own" ? "_own_ids" : "");

/** The columns of the order; `id` is the app's id of the person. */
export function peopleOrder(
  { by, ids }: PeopleOrder,
  client: Value,
  from: ReadTable<"person" | "affiliation">,
  personId: Sql,
): { sortKey: Sql; id: Sql } {
  const id = appIds[ids].of(client, personId);
  const { sortKey } = from as unknown as Columns<"sortKey">;
  const inPlaceOfName = sql`(${id})::text COLLATE "C"`;
  const sortKeys: Record<NamesRead, Sql> = {
    all: sortKey,
    some: sql`CASE WHEN ${isWithheldFrom(client, "PERSON_NAME", personId)} THEN ${inPlaceOfName} ELSE ${sortKey} END`,
    none: inPlaceOfName,
  };
  return { sortKey: sortKeys[by], id };
}

const selectNamesRead = makeFindOne<{ namesRead: NamesRead }, { clientId: ClientId }>("access.findNamesRead")`
  SELECT ${namesReadBy(app)} AS "namesRead" FROM ${app} WHERE ${app.clientId} = ${"clientId"}`;

/** The app must exist. */
export const findNamesRead = async (db: Queryable, clientId: ClientId): Promise<NamesRead> =>
  (await selectNamesRead(db, { clientId })).namesRead;

const selectAttributes = makeFind<{ attributes: AppAttribute[] }, { clientId: ClientId }>("access.findAttributes")`
  SELECT ${app.attributes}::text[] AS attributes FROM ${app} WHERE ${app.clientId} = ${"clientId"}`;

/** Null for an app that a replica does not know yet. */
export const findAttributes = async (db: Queryable, clientId: ClientId): Promise<AppAttribute[] | null> =>
  (await selectAttributes(db, { clientId }))[0]?.attributes ?? null;
