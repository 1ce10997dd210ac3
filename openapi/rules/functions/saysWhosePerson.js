const words = ["home", "member"];

/** Whether a schema of a request names people by id. */
function namesPeople(schema) {
  if (!schema || typeof schema !== "object") return false;
  if (Object.keys(schema.properties ?? {}).some((name) => /^personIds?$/.test(name))) return true;
  const parts = [...Object.values(schema.properties ?? {}), schema.items, schema["x-update-of"]];
  return [...parts, ...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].some(namesPeople);
}

/** Reports operations on people that do not say with `x-person` whether they need the home school of these people. */
export default function saysWhosePerson(item, _options, { path }) {
  const [, address] = path;
  const problems = [];
  for (const method of ["get", "post", "put", "patch", "delete"]) {
    const operation = item[method];
    if (!operation) continue;
    const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
    const bodies = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema);
    const isOfPeople =
      /\{personId\}|\/(logins|login-cards|people|members)(\/|$)/.test(address) ||
      parameters.some(({ name }) => /^(personId|person|actor)$/.test(name)) ||
      bodies.some(namesPeople);
    const isNew = /^createPerson$/.test(operation.operationId);
    if (isOfPeople && !isNew && !words.includes(operation["x-person"]))
      problems.push({ message: "x-person is missing: home or member.", path: [...path, method, "operationId"] });
  }
  return problems;
}
