import { identifier, sql, table, type Sql, type TableName } from "./sql.ts";

// SQL whose plan depends on no statistics. OFFSET 0 keeps PostgreSQL from pulling the inner SELECT up and joining its
// tables in another order, which it would choose by what it believes of their sizes. Inside stands a condition that one
// index answers.

/** Whether there is such a row, asked of each outer row by itself. Shape: `from` is a FROM with its WHERE. */
export const exists = (from: Sql): Sql => sql`EXISTS (SELECT FROM ${from} OFFSET 0)`;

/** Joins what is found for each outer row. Shape: `condition` is on the table's alias and on what stands before. */
export function lookUp(name: TableName, alias: string, condition: Sql): Sql {
  const as = identifier(alias);
  return sql`CROSS JOIN LATERAL (SELECT ${as}.* FROM ${table(name, alias)} WHERE ${condition} OFFSET 0) AS ${as}`;
}
