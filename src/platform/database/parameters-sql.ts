import { raw } from "sql-template-tag";
import { type Parameter, sql, type Sql } from "./sql.ts";

type SqlType = "bigint" | "bytea" | "int" | "jsonb" | "text" | "timestamptz" | "uuid";

/** Hides the array's length from the planner, which would plan every call with a short array anew. */
export const arrayOf = (parameter: Parameter, type: SqlType): Sql => sql`(SELECT ${parameter}::${raw(type)}[])`;

/** A JSON array of objects as a relation for FROM; `columns` are the fields of the objects. */
export function jsonRows<Field extends string>(
  parameter: Parameter,
  alias: string,
  types: Readonly<Record<Field, SqlType>>,
): { from: Sql; columns: { readonly [Name in Field]: Sql } } {
  const names = Object.entries<SqlType>(types);
  const described = names.map(([field, type]) => `"${field}" ${type}`).join(", ");
  const columns = names.map(([field]) => [field, raw(`${alias}."${field}"`)] as const);
  return {
    from: sql`jsonb_to_recordset(${parameter}::jsonb) AS ${raw(`${alias} (${described})`)}`,
    columns: Object.fromEntries(columns) as { [Name in Field]: Sql },
  };
}
