const limitedFormats = new Set(["uuid", "date", "date-time", "time", "ipv4", "ipv6", "binary"]);
const isLimitedPattern = (pattern) => /^\^.*\$$/.test(pattern) && !/(?<!\\)[*+]|\{\d+,\}/.test(pattern);

const isLimitedString = (schema) =>
  "maxLength" in schema ||
  "enum" in schema ||
  "const" in schema ||
  limitedFormats.has(schema.format) ||
  isLimitedPattern(schema.pattern ?? "");

/** Reports strings and arrays of a request whose length has no limit. */
export default function hasLimits(root, _options, context) {
  const problems = [];
  const walk = (part, path, around, parents) => {
    if (!part || typeof part !== "object" || part.readOnly || parents.includes(part)) return;
    const schema = Object.assign({}, around, ...(part.allOf ?? []), part);
    const types = [schema.type ?? []].flat();
    if (types.includes("string") && !isLimitedString(schema))
      problems.push({ message: "This string needs maxLength.", path });
    if (types.includes("array") && !("maxItems" in schema))
      problems.push({ message: "This array needs maxItems.", path });
    const { properties = {}, items, additionalProperties } = part;
    const nested = [
      ...Object.entries({ items, additionalProperties, "x-update-of": part["x-update-of"] }).map(([key, value]) => [
        [key],
        value,
      ]),
    ];
    nested.push(...Object.entries(properties).map(([name, value]) => [["properties", name], value]));
    for (const [place, inner] of nested) walk(inner, [...path, ...place], {}, [...parents, part]);
    for (const key of ["allOf", "anyOf", "oneOf"])
      (part[key] ?? []).forEach((inner, index) =>
        walk(inner, [...path, key, index], { ...schema, type: undefined }, [...parents, part]),
      );
  };
  walk(root, context.path, {}, []);
  return problems;
}
