import type { Document, Schema } from "./document.ts";

/**
 * Returns the bundle with the values of every named enum where it is used, and without its name.
 *
 * The python client that openapi-generator 7.0.0 makes cannot be imported when an enum has a name; with the values in
 * place it checks them, and the other languages make a type of their own.
 */
export function inlineEnums(bundle: Document): Document {
  const schemas = bundle.components?.schemas ?? {};
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
  const inlined = inline(bundle) as Document;
  for (const name of Object.keys(schemas))
    if (enums.has(`#/components/schemas/${name}`)) Reflect.deleteProperty(inlined.components!.schemas!, name);
  return inlined;
}
