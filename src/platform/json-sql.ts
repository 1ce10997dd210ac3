declare const shape: unique symbol;

/**
 * SQL out of this code base, never input, whose value is the text of a JSON value of the shape T.
 * Text is put together rather than by json_build_object, which takes about twice the time.
 */
export type JsonSql<T> = string & { readonly [shape]: T };

/** Any column, escaped. */
export const jsonText = (column: string) => `to_json(${column})::text` as JsonSql<string>;

export const jsonNullable = (column: string) => `coalesce(to_json(${column})::text, 'null')` as JsonSql<string | null>;

/** A column that never needs escaping: a UUID, or a code such as TEACHER. Which codes it can hold, T says and the response tests see. */
export const jsonCode = <T extends string = string>(column: string) => `'"' || ${column} || '"'` as JsonSql<T>;

/** An array of such codes. */
export const jsonCodes = <T extends string = string>(column: string) =>
  `array_to_json(${column})::text` as JsonSql<T[]>;

type Fields<T> = {
  [Key in keyof T]-?: JsonSql<Exclude<T[Key], undefined>> | (object extends Pick<T, Key> ? undefined : never);
};

/**
 * An object, field by field in this order. A field that the contract names and this lacks does not compile;
 * one that is optional there may be `undefined` here and is then left out.
 */
export function jsonObject<T extends object>(fields: Fields<T>): JsonSql<T> {
  const present = Object.entries(fields as Record<string, string | undefined>).filter(([, sql]) => sql !== undefined);
  const pairs = present.map(([key, sql], index) => `'${index === 0 ? "" : ","}"${key}":' || ${sql!}`);
  return `('{' || ${pairs.join(" || ")} || '}')` as JsonSql<T>;
}

/** An array out of the rows of a group, or of a whole FROM; `[]` where there are none. */
export const jsonArray = <T>(item: JsonSql<T>, order: string) =>
  `('[' || coalesce(string_agg(${item}, ',' ORDER BY ${order}), '') || ']')` as JsonSql<T[]>;

/** The value of a subquery that answers exactly one row. */
export const jsonFrom = <T>(value: JsonSql<T>, from: string) => `(SELECT ${value} ${from})` as JsonSql<T>;

/** Null unless the condition holds. */
export const jsonWhen = <T>(condition: string, value: JsonSql<T>) =>
  `CASE WHEN ${condition} THEN ${value} ELSE 'null' END` as JsonSql<T | null>;
