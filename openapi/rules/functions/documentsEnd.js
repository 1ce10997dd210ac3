const headers = ["Deprecation", "Sunset"];

/**
 * Reports the answers of a deprecated operation, or of one with a deprecated parameter, that do not document from when
 * it is deprecated and after when it may be gone. Answers are those of success and redirects.
 */
export default function documentsEnd(operation, _options, { documentInventory, path }) {
  const shared = documentInventory.resolved.paths[path[1]].parameters ?? [];
  const parameters = [...shared, ...(operation.parameters ?? [])];
  const ended = [
    ...(operation.deprecated === true ? ["The operation"] : []),
    ...parameters.filter(({ deprecated }) => deprecated === true).map(({ name }) => `The parameter ${name}`),
  ];
  if (ended.length === 0) return [];
  return Object.entries(operation.responses ?? {})
    .filter(([status]) => /^[23]/.test(status))
    .flatMap(([status, { headers: documented = {} }]) =>
      headers
        .filter((name) => !(name in documented))
        .map((name) => ({
          message: `${ended[0]} is deprecated, and status ${status} does not document the header ${name}.`,
          path: [...path, "responses", status],
        })),
    );
}
