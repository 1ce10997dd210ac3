import { resolve, type OpenApiDocument, type Schema } from "../../../src/platform/http/index.ts";

type Shape = Schema & { enum?: unknown[]; items?: object; maxItems?: number; allOf?: object[]; oneOf?: object[] };

const bodyBytes = 250_000;
const mostItems = 20_000;

/**
 * Makes the largest body that a schema and the limit of 256 KB allow, of one that is as described.
 *
 * Shape: `ids` are put where different ids are wanted.
 */
export function makeLargest(
  document: OpenApiDocument,
  { schema, example, ids }: { schema: object; example: unknown; ids: readonly string[] },
): string {
  for (let most = mostItems; most > 0; most = Math.floor(most / 2)) {
    const text = JSON.stringify(enlarge(resolve(document, schema) as Shape, example, most, 0));
    if (Buffer.byteLength(text) <= bodyBytes) return text;
  }
  return JSON.stringify(example);

  function enlarge(shape: Shape, value: unknown, most: number, index: number): unknown {
    for (const part of shape.allOf ?? shape.oneOf ?? [])
      value = enlarge(resolve(document, part) as Shape, value, most, index);
    if (value === null || value === undefined || shape.enum !== undefined) return value;
    if (Array.isArray(value)) {
      const items = resolve(document, shape.items ?? {}) as Shape;
      if (items.enum !== undefined) return items.enum.slice(0, shape.maxItems);
      if (items.type === "integer" || value.length === 0) return value;
      const count = Math.min(shape.maxItems ?? mostItems, most);
      return Array.from({ length: count }, (_, at) => enlarge(items, (value as unknown[])[0], most, at));
    }
    if (typeof value === "object")
      return Object.fromEntries(
        Object.entries(value).map(([name, one]) => {
          const described = shape.properties?.[name];
          return [name, described === undefined ? one : enlarge(resolve(document, described), one, most, index)];
        }),
      );
    if (typeof value !== "string") return value;
    if (shape.format === "uuid") return index === 0 ? value : (ids[index - 1] ?? value);
    if (shape.format === "uri") return `${value.replace(/#.*/, "")}${index === 0 ? "" : `?n=${index}`}`;
    if (shape.pattern !== undefined || shape.format !== undefined || shape.maxLength === undefined) return value;
    return value.padEnd(shape.maxLength, "ä");
  }
}
