const methods = ["get", "post", "put", "patch", "delete"];
const call = [
  "command",
  "summary",
  "arguments",
  "irreversible",
  "remoteOnly",
  "sends",
  "keeps",
  "ifMissing",
  "options",
  "refuses",
];
const print = [
  "list",
  "key",
  "paging",
  "more",
  "id",
  "columns",
  "record",
  "table",
  "lines",
  "reads",
  "like",
  "fails",
  "updated",
  "file",
  "quiet",
  "data",
];
const ofOption = ["name", "help", "kind", "values", "placeholder", "default", "isRequired", "range", "off"];

/** The names of the properties of a body, those of objects in it with the path to them. */
function propertiesOf(schema, prefix = "") {
  const parts = [schema, schema?.["x-update-of"], ...(schema?.allOf ?? [])];
  return parts.flatMap((part) =>
    Object.entries(part?.properties ?? {}).flatMap(([name, property]) => [
      `${prefix}${name}`,
      ...propertiesOf(property, `${prefix}${name}.`),
    ]),
  );
}

/** Reports what is wrong with the `x-cli` of an operation: unknown words, unknown inputs, and a command that two have. */
export default function describesCommand(document) {
  const problems = [];
  const commands = new Set();
  for (const [address, item] of Object.entries(document.paths ?? {}))
    for (const method of methods) {
      const operation = item[method];
      const report = (message) => problems.push({ message, path: ["paths", address, method, "x-cli"] });
      const parameters = [...(item.parameters ?? []), ...(operation?.parameters ?? [])].map(({ name }) => name);
      const body = operation?.requestBody?.content?.["application/json"]?.schema;
      const inputs = [...parameters, ...propertiesOf(body)];
      for (const described of [operation?.["x-cli"] ?? []].flat()) {
        const { command = "", arguments: named = [], options = {} } = described;
        if (!/^[a-z]+(-[a-z]+)*( [a-z]+(-[a-z]+)*)?$/.test(command))
          report("command is a noun and a verb, or one word.");
        if (commands.has(command)) report(`Two operations have the command '${command}'.`);
        commands.add(command);
        for (const word of Object.keys(described))
          if (![...call, ...print].includes(word)) report(`x-cli does not know '${word}'.`);
        for (const name of [...named, ...Object.keys(options)])
          if (!inputs.includes(name)) report(`'${name}' is neither a parameter nor a property of the body.`);
        for (const option of Object.values(options))
          for (const word of typeof option === "object" ? Object.keys(option) : [])
            if (!ofOption.includes(word)) report(`An option does not know '${word}'.`);
      }
    }
  return problems;
}
