import { parse, stringify } from "yaml";
import type { Document, Schema } from "./document.ts";

/**
 * Writes the values of every named enum where it is used, and drops the name from the bundle.
 *
 * The python client that openapi-generator 7.0.0 makes cannot be imported when an enum has a name; with the values in
 * place it checks them, and the other languages make a type of their own.
 */
export function inlineEnums(bundle: string): string {
  const document = parse(bundle) as Document;
  const schemas = document.components?.schemas ?? {};
  const enums = new Map(
    Object.entries(schemas)
      .filter(([, schema]) => schema.enum)
      .map(([name, schema]) => [`#/components/schemas/${name}`, schema]),
  );
  const inline = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inline);
    if (node === null || typeof node !== "object") return node;
    const { $ref, allOf, ...own } = node as Schema;
    const meant = enums.get($ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined) ?? "");
    if (meant) return { ...meant, ...own };
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inline(value)]));
  };
  for (const name of Object.keys(schemas))
    if (enums.has(`#/components/schemas/${name}`)) Reflect.deleteProperty(schemas, name);
  return stringify(inline(document), { aliasDuplicateObjects: false, lineWidth: 0, singleQuote: true });
}
