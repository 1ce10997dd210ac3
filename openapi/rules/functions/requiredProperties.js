/** Reports names that a schema requires and does not describe. */
export default function requiredProperties(schema, _options, { path }) {
  const { required, properties } = schema;
  if (!Array.isArray(required)) return;
  return required.flatMap((name, index) =>
    name in (properties ?? {})
      ? []
      : [{ message: `${name} is required and has no property.`, path: [...path, "required", index] }],
  );
}
