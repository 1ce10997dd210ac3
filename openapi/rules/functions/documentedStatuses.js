/**
 * Reports the statuses that an operation can answer and does not document: always, with a path parameter, or for a way
 * of signing in.
 */
export default function documentedStatuses(
  operation,
  { always = [], withPathParameter = [], withScheme = {} },
  { documentInventory, path },
) {
  const shared = documentInventory.resolved.paths[path[1]].parameters ?? [];
  const named = [...shared, ...(operation.parameters ?? [])].some((parameter) => parameter.in === "path");
  const schemes = new Set((operation.security ?? []).flatMap((way) => Object.keys(way)));
  const byScheme = Object.entries(withScheme).flatMap(([scheme, statuses]) => (schemes.has(scheme) ? statuses : []));
  return [...always, ...(named ? withPathParameter : []), ...byScheme]
    .filter((status) => !(status in (operation.responses ?? {})))
    .map((status) => ({ message: `Status ${status} is not documented.`, path: [...path, "responses"] }));
}
