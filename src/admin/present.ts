import shapes from "../../generated/openapi/admin-shapes.json" with { type: "json" };
import type { Every } from "../platform/contract-types.ts";
import type { Schemas } from "./handler.ts";

/** The properties of each record of the contract, with the name of the record that they hold. */
type Shapes = Readonly<Record<string, Readonly<Record<string, string | null>>>>;

/** What becomes a value of the contract: with times as dates, and properties that the contract does not have. */
type Within<T> = T extends string
  ? string extends T
    ? T | Date
    : T
  : T extends readonly (infer Item)[]
    ? readonly Within<Item>[]
    : T extends object
      ? { [Key in keyof T]: Within<T[Key]> | (object extends Pick<T, Key> ? undefined : never) }
      : T;
type Whole<T> = { [Key in keyof Every<T>]: Within<Every<T>[Key]> };

/**
 * Builds a record of the contract and the records in it: the properties that the contract names, without undefined
 * values, and with times as ISO 8601 in UTC.
 */
export const present = <Name extends keyof Schemas>(
  name: Name,
  record: Whole<NonNullable<Schemas[Name]>>,
): NonNullable<Schemas[Name]> => presentAs(name, record) as NonNullable<Schemas[Name]>;

function presentAs(name: string | null, value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (name === null || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => presentAs(name, item));
  const shape = (shapes as Shapes)[name]!;
  return Object.fromEntries(
    Object.entries(value).flatMap(([property, held]: [string, unknown]) =>
      held === undefined || !Object.hasOwn(shape, property) ? [] : [[property, presentAs(shape[property]!, held)]],
    ),
  );
}
