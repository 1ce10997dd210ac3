declare const shape: unique symbol;

/** SQL out of this code base whose value is JSON, or becomes JSON, of the shape T. Never input. */
export type JsonSql<T> = string & { readonly [shape]: T };

/** Says what shape a piece of SQL has: the one place where nobody checks but the response tests. */
export const sqlOf = <T>(sql: string) => sql as JsonSql<T>;

/** A column of text that may be null exactly where T says so. */
export const column = <T extends string | number | boolean | null = string>(sql: string) => sql as JsonSql<T>;

type Fields<T> = { [Key in keyof T]-?: JsonSql<Exclude<T[Key], undefined>> | (object extends Pick<T, Key> ? undefined : never) };

/**
 * An object, field by field in this order. A field that the contract names and this lacks does not compile;
 * one that is optional there may be `undefined` here and is then left out.
 */
export function jsonObject<T extends object>(fields: Fields<T>): JsonSql<T> {
  const present = Object.entries(fields as Record<string, string | undefined>).filter(([, sql]) => sql !== undefined);
  return `json_build_object(${present.map(([key, sql]) => `'${key}', ${sql!}`).join(", ")})` as JsonSql<T>;
}

/** An array out of a FROM with its WHERE, `[]` where no row is. */
export const jsonArray = <T>(item: JsonSql<T>, from: string, order: string) =>
  `(SELECT coalesce(json_agg(${item} ORDER BY ${order}), '[]') ${from})` as JsonSql<T[]>;

/** Null unless the condition holds. */
export const jsonWhen = <T>(condition: string, sql: JsonSql<T>) => `CASE WHEN ${condition} THEN ${sql} END` as JsonSql<T | null>;
