const endOf = (path) => path.slice(-2).join("/");

/** True when the schema at `path` is written where it is used, false when a $ref leads to it. */
function isInline(path, inventory) {
  const found = inventory.findAssociatedItemForPath(path, true);
  return found !== null && endOf(found.path.map(String)) === endOf(path.map(String));
}

/** A map has no shape of its own. */
const hasShape = (schema) =>
  Boolean(schema.properties ?? schema.allOf ?? schema.oneOf ?? schema.anyOf ?? schema.enum) ||
  (schema.type === "object" && !schema.additionalProperties);

/** Reports bodies whose schema, or the items of it, is an object without a name. */
export default function namedSchemas(operation, _options, context) {
  const bodies = [
    ["requestBody", operation.requestBody],
    ...Object.entries(operation.responses ?? {}).map(([status, answer]) => [["responses", status], answer]),
  ];
  const problems = [];
  for (const [place, body] of bodies) {
    for (const [mediaType, media] of Object.entries(body?.content ?? {})) {
      let path = [...context.path, ...[place].flat(), "content", mediaType, "schema"];
      let schema = media.schema;
      while (schema?.type === "array" && isInline(path, context.documentInventory)) {
        path = [...path, "items"];
        schema = schema.items;
      }
      if (schema && hasShape(schema) && isInline(path, context.documentInventory)) {
        problems.push({ message: "This schema needs a name: move it to a file and refer to it.", path });
      }
    }
  }
  return problems;
}
