import { sql, type Part, type Sql } from "../platform/database/sql.ts";

/** By name, or backwards. */
export type NameOrder = "name" | "-name";

/** What people are ordered by; backwards with a minus. */
export type PersonOrder = NameOrder | "createdAt" | "-createdAt" | "lastSignIn" | "-lastSignIn";

type Place = { key: Sql; id: Sql };

const isBackwards = (order: string): boolean => order.startsWith("-");

/** ORDER BY of a list, whose ids decide between equals. */
export const orderBy = (order: string, { key, id }: Place): Sql =>
  isBackwards(order) ? sql`ORDER BY ${key} DESC, ${id} DESC` : sql`ORDER BY ${key}, ${id}`;

/** Whether a row stands behind the last one of the part before. Shape: `from` binds `last` by its id. */
export function isBehind(order: string, { key, id }: Place, last: Place & { from: Part; after: Part }): Sql {
  const found = sql`(SELECT ${last.key}, ${last.id} FROM ${last.from} WHERE ${last.id} = ${last.after})`;
  const compare = isBackwards(order) ? sql`<` : sql`>`;
  return sql`(${last.after}::uuid IS NULL OR (${key}, ${id}) ${compare} ${found})`;
}
