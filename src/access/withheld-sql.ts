import type { AppAttribute } from "../../generated/prisma/enums.ts";
import { join, literal, sql, table, type Sql, type Value, exists, lookUp } from "../platform/database/sql.ts";
import { scopeNames, type ScopeName } from "./token.ts";

// What a school withholds from an app that has it by its registration (table withheld_item). Of a person an app gets
// nothing that one of their schools withholds, so that their record is the same wherever the app reads it.

const withheld = table("withheldItem", "v_withheld");
const place = table("affiliation", "v_place");

export type WithheldItem = AppAttribute | ScopeName;

/** SQL condition, evaluated once in a statement: some school withholds something from some app. */
export const isAnythingWithheld: Sql = sql`(SELECT EXISTS (SELECT FROM ${withheld}))`;

const fromItem = (client: Value, item: WithheldItem): Sql =>
  sql`${withheld} WHERE ${withheld.clientId} = ${client} AND ${withheld.item} = ${literal(item)}`;

/** SQL condition: a school withholds the item. Evaluated once for a client id from a parameter or an outer SELECT. */
export const isWithheldAnywhere = (client: Value, item: WithheldItem): Sql =>
  sql`(SELECT ${exists(fromItem(client, item))})`;

export const isWithheldAt = (client: Value, item: WithheldItem, schoolId: Value): Sql =>
  exists(sql`${fromItem(client, item)} AND ${withheld.schoolId} = ${schoolId}`);

export const isWithheldFrom = (client: Value, item: WithheldItem, personId: Value): Sql =>
  exists(sql`${place} WHERE ${place.personId} = ${personId} AND ${isWithheldAt(client, item, place.schoolId)}`);

/** What the schools of one person withhold: for one person fewer look-ups than item by item, for many people more. */
export function heldFromPerson(client: Value, personId: Value): { from: Sql; items: Sql } {
  const ofPlace = sql`${withheld.schoolId} = ${place.schoolId} AND ${withheld.clientId} = ${client}`;
  const from = sql`CROSS JOIN LATERAL (
    SELECT ARRAY(SELECT ${withheld.item} FROM ${place} ${lookUp("withheldItem", "v_withheld", ofPlace)}
      WHERE ${place.personId} = ${personId}) AS items OFFSET 0) AS v_held`;
  return { from, items: sql`v_held.items` };
}

/** An app that reads people; `held` are the items of `heldFromPerson`, if the statement has them. */
export type PeopleReader = { client: Value; held?: Sql };

/** SQL condition: a school of the person withholds the item. */
export const isWithheldOf = ({ client, held }: PeopleReader, item: WithheldItem, personId: Value): Sql =>
  held === undefined
    ? sql`(${isWithheldAnywhere(client, item)} AND ${isWithheldFrom(client, item, personId)})`
    : sql`${literal(item)} = ANY (${held})`;

const listItems = (client: Value, schools: Sql, condition: Sql): Sql => sql`CASE WHEN ${isAnythingWithheld} THEN (
  SELECT array_agg(DISTINCT ${withheld.item} ORDER BY ${withheld.item}) FROM ${withheld}
  WHERE ${withheld.clientId} = ${client} AND ${withheld.schoolId} IN (${schools}) AND ${condition}) END`;

/** SQL value: what the schools of this SELECT withhold, in order; null for nothing. */
export const withheldItems = (client: Value, schools: Sql): Sql => listItems(client, schools, sql`true`);

/** SQL value: an app's attributes or scopes, as text, without those that the schools of this SELECT withhold. */
export const withoutWithheld = (client: Value, held: Sql, schools: Sql): Sql => sql`ARRAY(
  SELECT held FROM unnest(${held}::text[]) WITH ORDINALITY AS item (held, place)
  WHERE held <> ALL (coalesce(${withheldItems(client, schools)}, '{}')) ORDER BY place)`;

const scopes = join(scopeNames.map((name) => literal(name)));

export const withheldScopes = (client: Value, schools: Sql): Sql =>
  listItems(client, schools, sql`${withheld.item} IN (${scopes})`);

export const schoolsOf = (personId: Value): Sql =>
  sql`SELECT ${place.schoolId} FROM ${place} WHERE ${place.personId} = ${personId}`;
