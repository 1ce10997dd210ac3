/** Reports objects of a request that take properties which they do not name. */
export default function closedBody(schema, _options, { path }) {
  const problems = [];
  const walk = (node, at) => {
    if (!node || typeof node !== "object") return;
    if (node.properties && node.additionalProperties !== false && !node["x-update-of"])
      problems.push({ message: "additionalProperties: false is missing.", path: at });
    for (const [name, child] of Object.entries(node.properties ?? {})) walk(child, [...at, "properties", name]);
    if (node.items) walk(node.items, [...at, "items"]);
    for (const word of ["allOf", "oneOf", "anyOf"])
      (node[word] ?? []).forEach((child, index) => walk(child, [...at, word, index]));
  };
  walk(schema, path);
  return problems;
}
