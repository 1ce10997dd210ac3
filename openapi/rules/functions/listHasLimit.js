const paging =
  /^(limit|offset|skip|take|top|cursor|after|before|page|first|last|start|count|size|max|range|next|token|per)\b/;
const words = (name) =>
  name
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);

const envelope = /^(items|data|results|records|values|entries|elements|content|list|embedded)$/i;

/** The array that a body is, or that it wraps under a customary name or, alone, under the last word of the address. */
function listIn(schema, address) {
  if (schema?.type === "array") return [schema];
  const arrays = Object.entries(schema?.properties ?? {}).filter(([, { type }]) => type === "array");
  const last = address.split("/").at(-1).toLowerCase();
  return arrays
    .filter(([name]) => envelope.test(name) || (arrays.length === 1 && name.toLowerCase() === last))
    .map(([, list]) => list);
}

/** Reports a GET that returns a list of any length and takes no parameter to page. */
export default function listHasLimit(operation, _options, { path, documentInventory }) {
  const [, address] = path;
  if (/\}$/.test(address)) return [];
  const shared = documentInventory.resolved.paths[address].parameters ?? [];
  const parameters = [...shared, ...(operation.parameters ?? [])].filter((parameter) => parameter.in === "query");
  if (parameters.some(({ name }) => words(name).some((word) => paging.test(word)))) return [];
  const bodies = Object.values(operation.responses?.["200"]?.content ?? {});
  const isOpen = bodies.flatMap(({ schema }) => listIn(schema, address)).some((list) => !("maxItems" in list));
  return isOpen
    ? [{ message: "This list needs a parameter to page, or maxItems.", path: [...path, "operationId"] }]
    : [];
}
