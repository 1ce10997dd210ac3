import type { Document, Schema } from "./document.ts";

type Shape = Record<string, string | null>;

/** The properties of each record of a contract: the record that is in it or in its list, else null. */
export function listShapes({ components = {} }: Document): Record<string, Shape> {
  const { schemas = {} } = components;
  const recordIn = ({ $ref, items, allOf = [] }: Schema): string | null => {
    const name = $ref?.split("/").at(-1);
    if (name !== undefined) return schemas[name]?.properties === undefined ? null : name;
    return [...(items ? [items] : []), ...allOf].map(recordIn).find((found) => found !== null) ?? null;
  };
  const shapeOf = ({ properties = {} }: Schema): Shape =>
    Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, recordIn(property)]));
  const records = Object.entries(schemas).filter(([, { properties }]) => properties !== undefined);
  return Object.fromEntries(records.map(([name, schema]) => [name, shapeOf(schema)]));
}
