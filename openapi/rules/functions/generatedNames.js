const lettersOf = (name) => name.replace(/[^A-Za-z0-9]/g, "").toLowerCase();

/** By their letters, the names that clients declare beside schemas: constructors, types of null, operations' parameters. */
function listMadeNames(document, schemas) {
  const operations = Object.values(document.paths ?? {}).flatMap((item) => Object.values(item ?? {}));
  const ids = operations.map((operation) => operation?.operationId).filter((id) => typeof id === "string");
  return new Map([
    ...ids.map((id) => [lettersOf(`${id}Request`), `the parameters of ${id}`]),
    ...schemas.map((name) => [lettersOf(`New${name}`), `the constructor of ${name}`]),
    ...schemas.map((name) => [lettersOf(`Nullable${name}`), `${name} or null`]),
  ]);
}

/** Reports schemas whose name generated clients use for something else, or for another schema. */
export default function generatedNames(document, _options, { path }) {
  const schemas = Object.keys(document.components?.schemas ?? {});
  const made = listMadeNames(document, schemas);
  return schemas.flatMap((name) => {
    const letters = lettersOf(name);
    const other = made.get(letters);
    made.set(letters, `the schema ${name}`);
    const message = `Generated clients use ${name} for ${other}, too.`;
    return other === undefined ? [] : [{ message, path: [...path, "components", "schemas", name] }];
  });
}
