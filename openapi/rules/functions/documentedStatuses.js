/** Reports the statuses that an operation can answer and does not document. */
export default function documentedStatuses(operation, { always, withPathParameter }, { documentInventory, path }) {
  const shared = documentInventory.resolved.paths[path[1]].parameters ?? [];
  const named = [...shared, ...(operation.parameters ?? [])].some((parameter) => parameter.in === "path");
  return [...always, ...(named ? withPathParameter : [])]
    .filter((status) => !(status in (operation.responses ?? {})))
    .map((status) => ({ message: `Status ${status} is not documented.`, path: [...path, "responses"] }));
}
