/**
 * Reports the statuses that an operation can answer and does not document: always, with a path parameter, with a body,
 * with a parameter of a name, or for a way of signing in.
 */
export default function documentedStatuses(
  operation,
  { always = [], withPathParameter = [], withBody = [], withParameter = {}, withScheme = {} },
  { documentInventory, path },
) {
  const shared = documentInventory.resolved.paths[path[1]].parameters ?? [];
  const parameters = [...shared, ...(operation.parameters ?? [])];
  const named = parameters.some((parameter) => parameter.in === "path");
  const byParameter = parameters.flatMap(({ name }) => withParameter[name] ?? []);
  const schemes = new Set((operation.security ?? []).flatMap((way) => Object.keys(way)));
  const byScheme = Object.entries(withScheme).flatMap(([scheme, statuses]) => (schemes.has(scheme) ? statuses : []));
  const byBody = operation.requestBody ? withBody : [];
  return [...always, ...(named ? withPathParameter : []), ...byBody, ...byParameter, ...byScheme]
    .filter((status) => !(status in (operation.responses ?? {})))
    .map((status) => ({ message: `Status ${status} is not documented.`, path: [...path, "responses"] }));
}
