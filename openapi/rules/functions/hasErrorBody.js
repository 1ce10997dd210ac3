/** Reports errors of an operation whose body is not described. HEAD has none. */
export default function hasErrorBody(operation, _options, { path }) {
  if (path.at(-1) === "head") return [];
  return Object.entries(operation.responses ?? {})
    .filter(([status, { content }]) => /^([45]|default)/.test(status) && !Object.keys(content ?? {}).length)
    .map(([status]) => ({ message: `The body of ${status} is not described.`, path: [...path, "responses", status] }));
}
