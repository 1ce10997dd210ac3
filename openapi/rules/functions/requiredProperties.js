const combiners = ["allOf", "anyOf", "oneOf"];
const namesOf = (schema, parents = []) =>
  !schema || typeof schema !== "object" || parents.includes(schema)
    ? []
    : [
        ...Object.keys(schema.properties ?? {}),
        ...combiners.flatMap((word) => schema[word] ?? []).flatMap((part) => namesOf(part, [...parents, schema])),
      ];

/** Reports names that a schema requires and does not describe, nor what it is combined with. */
export default function requiredProperties(schema, _options, { path, documentInventory }) {
  const { required } = schema;
  if (!Array.isArray(required)) return;
  const names = new Set(namesOf(schema));
  for (let at = path; combiners.includes(at.at(-2)); at = at.slice(0, -2)) {
    const around = at.slice(0, -2).reduce((node, key) => node?.[key], documentInventory.resolved);
    for (const name of namesOf(around)) names.add(name);
  }
  return required.flatMap((name, index) =>
    names.has(name)
      ? []
      : [{ message: `${name} is required and has no property.`, path: [...path, "required", index] }],
  );
}
