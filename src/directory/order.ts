import { sql, type Part, type Sql } from "../platform/database/sql.ts";

export type SortOrder = "asc" | "desc";

export type PeopleSort = "name" | "createdAt" | "lastSignIn";

type SortPosition = { key: Sql; id: Sql };

export const orderBy = (order: SortOrder, { key, id }: SortPosition): Sql =>
  order === "desc" ? sql`ORDER BY ${key} DESC, ${id} DESC` : sql`ORDER BY ${key}, ${id}`;

export function isAfter(order: SortOrder, { key, id }: SortPosition, last: SortPosition & { from: Part; after: Part }) {
  const lastRow = sql`(SELECT ${last.key}, ${last.id} FROM ${last.from} WHERE ${last.id} = ${last.after})`;
  const compare = order === "desc" ? sql`<` : sql`>`;
  return sql`(${last.after}::uuid IS NULL OR (${key}, ${id}) ${compare} ${lastRow})`;
}

/**
 * SQL: the key that sorts groups as schools list them: 5a, 9d, 10a, E1, Q1, then other names; the column `naturalKey`.
 *
 * Source: the function natural_key in prisma/migrations/0051_class_order.
 */
export const naturalKey = (sortKey: Sql): Sql => sql`natural_key(${sortKey})`;
