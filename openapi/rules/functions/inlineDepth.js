const endOf = (path) => path.slice(-2).join("/");

/** Reports objects that are two inline levels away from the last schema with a name. */
export default function inlineDepth(schema, _options, { path, documentInventory }) {
  // A property may have the name content, too.
  if (!String(path.at(-2)).includes("/")) return [];
  const problems = [];
  const seen = new Set();
  const walk = (node, at, depth) => {
    if (!node || typeof node !== "object" || seen.has(node)) return;
    const found = documentInventory.findAssociatedItemForPath(at, true);
    const inline = found !== null && endOf(found.path.map(String)) === endOf(at.map(String));
    const isObject = node.type === "object" || node.properties;
    const here = inline ? depth + (isObject ? 1 : 0) : 0;
    if (!inline) seen.add(node);
    if (here > 1)
      problems.push({ message: "This object needs a name: it lies inside an object that has none.", path: at });
    for (const [name, child] of Object.entries(node.properties ?? {})) walk(child, [...at, "properties", name], here);
    if (node.items) walk(node.items, [...at, "items"], here);
    for (const word of ["allOf", "oneOf", "anyOf"])
      (node[word] ?? []).forEach((child, index) => walk(child, [...at, word, index], here));
  };
  walk(schema, path, 0);
  return problems;
}
