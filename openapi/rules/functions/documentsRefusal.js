const covers = (responses, status) => status in responses || "4XX" in responses || "default" in responses;

/** Reports that an operation for which everybody needs credentials does not say how it refuses them. */
export default function documentsRefusal(operation, { statuses }, { documentInventory, path }) {
  const { security = documentInventory.resolved.security ?? [], responses = {} } = operation;
  const isOpen = security.length === 0 || security.some((way) => Object.keys(way).length === 0);
  const isOffered = Object.keys(responses).some((status) => status !== "501");
  if (isOpen || !isOffered) return [];
  return statuses
    .filter((status) => !covers(responses, status))
    .map((status) => ({ message: `Status ${status} is not documented.`, path: [...path, "responses"] }));
}
