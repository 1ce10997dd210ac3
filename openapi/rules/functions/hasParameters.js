/** Reports parameters that an operation must take and does not. */
export default function hasParameters(operation, { names }, { path }) {
  const taken = new Set((operation.parameters ?? []).map((parameter) => parameter.name));
  return names
    .filter((name) => !taken.has(name))
    .map((name) => ({
      message: `The parameter ${name} is missing.`,
      path: [...path, operation.parameters === undefined ? "operationId" : "parameters"],
    }));
}
