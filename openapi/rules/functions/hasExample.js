const combined = (schema) => [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];

/** Whether a schema shows an example: its own, that of its items, or those of its properties. */
function shows(schema, parents = []) {
  if (!schema || typeof schema !== "object" || parents.includes(schema)) return false;
  if ("example" in schema || "const" in schema || (schema.examples ?? []).length > 0) return true;
  const inner = [
    ...combined(schema),
    schema.items,
    schema["x-update-of"],
    schema["x-record-of"],
    ...Object.values(schema.properties ?? {}),
  ];
  return inner.some((part) => shows(part, [...parents, schema]));
}

/**
 * Reports a parameter or body that shows no example, its own or its schema's. Bytes have none, and the values of an
 * enum are examples.
 */
export default function hasExample(item, _options, { path }) {
  if (!item || typeof item !== "object" || item.schema?.format === "binary") return;
  // A property may have the name content, too.
  if (path.at(-2) === "content" && !String(path.at(-1)).includes("/")) return;
  const shown =
    "example" in item ||
    Object.keys(item.examples ?? {}).length > 0 ||
    "enum" in (item.schema ?? {}) ||
    shows(item.schema);
  if (!shown) return [{ message: "An example is missing." }];
}
