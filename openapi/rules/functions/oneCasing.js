const casings = {
  camelCase: /^[a-z][a-z0-9]*([A-Z][a-z0-9]+)*[A-Z]?$/,
  snake_case: /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/,
  "kebab-case": /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/,
  PascalCase: /^([A-Z][a-z0-9]+)*[A-Z]?$/,
};
const fits = (name, casing) =>
  name
    .split(/[^\w-]+/)
    .filter(Boolean)
    .every((word) => casings[casing].test(word));

/** Names by kind, each with the first place where it stands. */
function collectNames(document) {
  const kinds = Object.fromEntries(
    ["operation ids", "path parameters", "query parameters", "properties"].map((kind) => [kind, new Map()]),
  );
  const add = (kind, name, path) => kinds[kind].has(name) || kinds[kind].set(name, path);
  const seen = new Set();
  const walk = (value, path) => {
    if (!value || typeof value !== "object" || seen.has(value)) return;
    seen.add(value);
    if (typeof value.operationId === "string") add("operation ids", value.operationId, [...path, "operationId"]);
    if (["path", "query"].includes(value.in) && value.name)
      add(`${value.in} parameters`, value.name, [...path, "name"]);
    for (const [key, inner] of Object.entries(value)) {
      if (/^(x-.*|examples?|default|enum|const|mapping|security|securitySchemes|scopes)$/.test(key)) continue;
      if (key === "properties") for (const name of Object.keys(inner)) add("properties", name, [...path, key, name]);
      walk(inner, [...path, key]);
    }
  };
  walk(document, []);
  return kinds;
}

/** Reports names of a document in another casing than most names of their kind. */
export default function oneCasing(document) {
  return Object.entries(collectNames(document)).flatMap(([kind, names]) => {
    const count = (casing) => [...names.keys()].filter((name) => fits(name, casing)).length;
    const [usual] = Object.keys(casings).toSorted((one, other) => count(other) - count(one));
    return [...names]
      .filter(([name]) => !fits(name, usual))
      .map(([name, path]) => ({ message: `${name} is not ${usual}, as most ${kind} here are.`, path }));
  });
}
