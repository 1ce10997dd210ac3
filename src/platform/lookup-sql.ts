/*
 * SQL whose plan hangs on no statistics. OFFSET 0 keeps PostgreSQL from pulling the inner SELECT up and joining its tables in
 * another order, which it would choose by what it believes of their sizes. Inside stands a condition that one index answers.
 */

/** Whether there is such a row, asked of each outer row by itself. Shape: `from` is a FROM with its WHERE. */
export const exists = (from: string): string => `EXISTS (SELECT FROM ${from} OFFSET 0)`;

/** Joins what is found for each outer row. Shape: `table` with its alias, `condition` on it and on what stands before. */
export function lookUp(table: string, alias: string, condition: string): string {
  return `CROSS JOIN LATERAL (SELECT ${alias}.* FROM ${table} ${alias} WHERE ${condition} OFFSET 0) AS ${alias}`;
}
