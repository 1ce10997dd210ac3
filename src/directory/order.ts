import { sql, type Part, type Sql } from "../platform/database/sql.ts";

export type NameOrder = "name" | "-name";

export type PersonOrder = NameOrder | "createdAt" | "-createdAt" | "lastSignIn" | "-lastSignIn";

type SortPosition = { key: Sql; id: Sql };

const isDescending = (order: string): boolean => order.startsWith("-");

export const orderBy = (order: string, { key, id }: SortPosition): Sql =>
  isDescending(order) ? sql`ORDER BY ${key} DESC, ${id} DESC` : sql`ORDER BY ${key}, ${id}`;

export function isAfter(
  order: string,
  { key, id }: SortPosition,
  last: SortPosition & { from: Part; after: Part },
): Sql {
  const found = sql`(SELECT ${last.key}, ${last.id} FROM ${last.from} WHERE ${last.id} = ${last.after})`;
  const compare = isDescending(order) ? sql`<` : sql`>`;
  return sql`(${last.after}::uuid IS NULL OR (${key}, ${id}) ${compare} ${found})`;
}

/**
 * SQL: the key that sorts groups as schools list them: 5a, 9d, 10a, E1, Q1, then other names; the column `naturalKey`.
 *
 * Source: the function natural_key in prisma/migrations/0051_class_order.
 */
export const naturalKey = (sortKey: Sql): Sql => sql`natural_key(${sortKey})`;
