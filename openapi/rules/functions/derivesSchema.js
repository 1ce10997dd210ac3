const sources = ["x-update-of", "x-record-of", "x-event-names-of"];
/** What the bundle says of a derived schema by itself. */
const implied = {
  "x-update-of": ["required", "additionalProperties"],
  "x-record-of": ["required", "additionalProperties"],
  "x-event-names-of": ["properties"],
};

/** Reports a derived schema that repeats what it is derived from, or leaves out what is not there. */
export default function derivesSchema(schema, _options, { path }) {
  const used = sources.filter((word) => word in schema);
  if (used.length !== 1) return [{ message: `A schema has one of ${sources.join(", ")}.`, path }];
  const [word] = used;
  const { properties } = schema[word] ?? {};
  if (!properties) return [{ message: `${word} refers to a schema with properties.`, path: [...path, word] }];
  const left = schema["x-without"] ?? [];
  return [
    ...implied[word]
      .filter((keyword) => keyword in schema)
      .map((keyword) => ({ message: `${keyword} follows from ${word}.`, path: [...path, keyword] })),
    ...left
      .filter((name) => !(name in properties))
      .map((name) => ({ message: `${name} is left out, and is no property.`, path: [...path, "x-without"] })),
    ...left
      .filter((name) => name in (schema.properties ?? {}))
      .map((name) => ({ message: `${name} is left out and described.`, path: [...path, "x-without"] })),
  ];
}
