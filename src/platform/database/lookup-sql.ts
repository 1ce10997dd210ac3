import { identifier, sql, table, type Sql, type TableName } from "./sql.ts";

// SQL whose plan does not depend on statistics: OFFSET 0 keeps PostgreSQL from flattening the inner SELECT and
// reordering its joins. The inner condition must match one index.

export const exists = (from: Sql): Sql => sql`EXISTS (SELECT FROM ${from} OFFSET 0)`;

/** `condition` may use the alias and the tables before it. */
export function lookUp(name: TableName, alias: string, condition: Sql): Sql {
  const as = identifier(alias);
  return sql`CROSS JOIN LATERAL (SELECT ${as}.* FROM ${table(name, alias)} WHERE ${condition} OFFSET 0) AS ${as}`;
}
