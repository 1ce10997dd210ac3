import { resolved, type Document, type Operation, type Parameter, type Schema } from "./document.ts";
import { pathsIn } from "../../src/cli/template.ts";
import { flatSchema } from "./flat-schema.ts";

type OptionDescription = { name?: string; help?: string; off?: false | { name?: string; help?: string } } & Record<
  string,
  unknown
>;

/** `x-cli` of one command (openapi/rules/docs/admin-command.md); what it leaves out is derived from the operation. */
type Description = {
  command: string;
  summary?: string;
  arguments?: string[];
  options?: Record<string, false | string | OptionDescription>;
  sends?: Record<string, unknown>;
  keeps?: boolean;
} & Record<string, unknown>;

type Noun = { summary: string; isForPartners?: boolean };
type Verbs = Record<string, object>;
type Described = { summary: string; "x-cli"?: Description | Description[] };

/** A parameter, or a property of the body by its path. */
type Input = { name: string; in: "path" | "query" | "body"; schema: Schema; isRequired: boolean; label?: string };

const methods = ["get", "post", "put", "patch", "delete"];
/** Parameters that the command line sets itself; `options` can still offer them. */
const setByProgram = new Set(["limit", "cursor", "sort", "order", "dry-run", "in-background"]);

/**
 * Takes `x-cli` and `x-cli-nouns` out of the bundle of the admin contract, and returns the commands that they describe.
 *
 * Errors: throws for a name that is no parameter or property, and for a property that no option can hold.
 */
export function takeCommands(bundle: Document): { nouns: Record<string, Noun & { verbs: Verbs }>; commands: Verbs } {
  const root = bundle as Document & { "x-cli-nouns"?: Record<string, Noun> };
  const nouns: Record<string, Noun & { verbs: Verbs }> = {};
  /** Those without a noun. */
  const commands: Verbs = {};
  for (const [name, noun] of Object.entries(root["x-cli-nouns"] ?? {})) nouns[name] = { ...noun, verbs: {} };
  delete root["x-cli-nouns"];
  for (const [path, item] of Object.entries(bundle.paths))
    for (const method of methods) {
      const operation = item[method] as (Operation & Described) | undefined;
      const described = operation?.["x-cli"];
      if (operation === undefined || described === undefined) continue;
      delete operation["x-cli"];
      for (const description of [described].flat()) {
        const [noun = "", verb] = description.command.split(" ");
        const verbs = verb === undefined ? commands : nouns[noun]?.verbs;
        if (verbs === undefined) throw new Error(`${operation.operationId}: x-cli-nouns lacks '${noun}'.`);
        try {
          verbs[verb ?? noun] = makeCommand(bundle, { path, method, operation, description });
        } catch (error) {
          throw new Error(`${operation.operationId}: x-cli: ${(error as Error).message}`, { cause: error });
        }
      }
    }
  for (const { verbs } of Object.values(nouns))
    for (const [verb, { like, ...command }] of Object.entries(verbs) as [string, { like?: string }][])
      if (like !== undefined) verbs[verb] = { ...printedAs(nouns, like), ...command };
  for (const parameter of Object.values(bundle.components?.["parameters"] ?? {}))
    delete (parameter as Labelled)["x-cli-name"];
  return { nouns, commands };
}

/** What a command prints, for another one with the same answer. */
function printedAs(nouns: Record<string, { verbs: Verbs }>, command: string): object {
  const [noun = "", verb = ""] = command.split(" ");
  const printed = nouns[noun]?.verbs[verb];
  if (printed === undefined) throw new Error(`like: there is no command '${command}'.`);
  const words = ["record", "table", "lines", "quiet", "data", "fails"];
  return Object.fromEntries(Object.entries(printed).filter(([word]) => words.includes(word)));
}

type Labelled = { "x-cli-name"?: string };
type Source = { path: string; method: string; operation: Operation & Described; description: Description };

function makeCommand(bundle: Document, { path, method, operation, description }: Source): object {
  const { command: _, summary = `${operation.summary}.`, arguments: named, options = {}, ...rest } = description;
  const parameters = (operation.parameters ?? []).map((parameter) => resolved(bundle, parameter));
  const body = operation.requestBody && resolved(bundle, operation.requestBody);
  const bodySchema = body?.content?.["application/json"]?.schema;
  const inputs = [
    ...listParameters(bundle, path, parameters),
    ...listProperties(bundle, bodySchema, "", body?.required === true),
  ];
  const find = (name: string): Input => {
    const input = inputs.find((one) => one.name === name);
    if (input === undefined) throw new Error(`'${name}' is neither a parameter nor a property.`);
    return input;
  };
  const args = named?.map(find) ?? inputs.filter((input) => input.in === "path" && options[input.name] === undefined);
  for (const name of Object.keys(options)) find(name);
  const isOffered = ({ name }: Input): boolean => {
    if (args.some((one) => one.name === name) || options[name] === false) return false;
    return options[name] !== undefined || (rest.sends === undefined && !setByProgram.has(name));
  };
  const isChange = method === "patch" || rest.keeps === true;
  // A command without changes prints the record.
  const { get = operation } = bundle.paths[(rest["reads"] as string | undefined) ?? path] as { get?: Operation };
  checkTemplates(bundle, rest, new Set(inputs.flatMap(({ name }) => [name, ...name.split(".")])), [operation, get]);
  return {
    summary,
    method,
    path,
    args: args.map(({ name, in: place, schema, label = name === "clientId" ? "app" : defaultName(name, schema) }) => ({
      name,
      in: place,
      label: label.replace(/-id$/, ""),
      ...kindOf(name, schema),
    })),
    options: inputs.filter(isOffered).map((input) => makeOption(input, options[input.name] || {}, isChange)),
    ...(parameters.some(({ name }) => name === "Idempotency-Key") && { takesKey: true }),
    ...(bodySchema && { body: body.required === true ? "always" : "if given" }),
    ...rest,
    ...(rest.keeps === true && { keeps: Object.keys(flatSchema(bundle, bodySchema!).properties!) }),
  };
}

function listParameters(bundle: Document, path: string, parameters: readonly Parameter[]): Input[] {
  const placeOf = ({ name }: Input) => path.indexOf(`{${name}}`);
  return parameters
    .filter((one) => one.in === "path" || one.in === "query")
    .map((one) => {
      const schema = {
        ...flatSchema(bundle, one.schema ?? {}),
        description: (one as { description?: string }).description,
      };
      const label = (one as Labelled)["x-cli-name"];
      return {
        name: one.name,
        in: one.in as Input["in"],
        schema,
        isRequired: one.required === true,
        ...(label !== undefined && { label }),
      };
    })
    .toSorted((a, b) => placeOf(a) - placeOf(b));
}

function listProperties(bundle: Document, body: Schema | undefined, prefix: string, isNeeded: boolean): Input[] {
  if (body === undefined) return [];
  const { properties = {}, required = [] } = flatSchema(bundle, body);
  return Object.entries(properties).flatMap(([property, ref]): Input[] => {
    const [name, isRequired] = [`${prefix}${property}`, isNeeded && required.includes(property)];
    const schema = flatSchema(bundle, ref);
    if (schema.properties !== undefined) return listProperties(bundle, schema, `${name}.`, isRequired);
    const items = schema.items && flatSchema(bundle, schema.items);
    return [{ name, in: "body", schema: items ? { ...schema, items } : schema, isRequired }];
  });
}

type Kind = { kind: string; values?: unknown[]; placeholder?: string };

/** How a value is written on the command line. */
function kindOf(name: string, { type, format, items, enum: values }: Schema): Kind {
  const isList = type === "array";
  const choices = (isList ? items?.enum : values)?.filter((value) => value !== null);
  if (choices) return { kind: isList ? "some" : "one", values: choices };
  if (type === "boolean") return { kind: "flag" };
  if (type === "integer") return { kind: "count" };
  if (format === "date-time") return { kind: "time" };
  const [, record] = /(school|person|group|endpoint|actor)(?:Ids?)?$/i.exec(name) ?? [];
  if ((isList ? items?.format : format) === "uuid") {
    const kind = record?.toLowerCase().replace("actor", "person") ?? "id";
    return { kind: isList ? (kind === "person" ? "people" : `${kind}s`) : kind };
  }
  const placeholder = /^(app|clientIds?)$/.test(name) ? { placeholder: "client-id" } : {};
  return { kind: isList ? "texts" : "text", ...placeholder };
}

const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `groupIds` is written --group, `redirectUris` --redirect-uri. */
function defaultName(name: string, { type }: Schema): string {
  const last = name.split(".").at(-1)!;
  return dashed(type === "array" ? last.replace(/s$/, "") : last).replace(/(?<=school|person|group)-id$/, "");
}

const firstSentence = (text: string): string =>
  text
    .trim()
    .replace(/(?<=\.)\s[^]*$/, "")
    .replaceAll("\n", " ");

function makeOption(
  { name: property, in: place, schema, isRequired }: Input,
  given: string | OptionDescription,
  isChange: boolean,
) {
  const { off, ...described } = typeof given === "string" ? ({ help: given } as OptionDescription) : given;
  if (schema.items?.properties !== undefined && described["kind"] === undefined)
    throw new Error(`'${property}' is a list of objects, which no option can hold.`);
  const {
    name = defaultName(property, schema),
    help = firstSentence((schema["description"] as string | undefined) ?? ""),
  } = described;
  const { values } = kindOf(property, schema);
  const ordered = described["values"] as string[] | undefined;
  if (ordered !== undefined && ordered.toSorted().join() !== values?.toSorted().join())
    throw new Error(`The values of '${property}' are not those of the contract in another order.`);
  const isFlag = schema.type === "boolean";
  const { minimum, maximum } = schema;
  const emptied = schema.type === "array" ? [] : isFlag ? false : null;
  const hasOff = off !== false && (off !== undefined || (isChange && schema.nullable === true));
  return {
    property,
    in: place,
    ...kindOf(property, schema),
    ...(isRequired &&
      !isChange &&
      (isFlag ? { default: false } : described["default"] === undefined && { isRequired })),
    ...(described["range"] !== undefined && { minimum, maximum }),
    ...described,
    name,
    help,
    ...(hasOff && {
      off: { name: `no-${name}`, help: `Remove the ${name.replaceAll("-", " ")}.`, ...off, value: emptied },
    }),
  };
}

/** What the program itself knows of a call. */
const computed = new Set(["file", "isChanged"]);

/** Checks that each `$path` of what is printed exists in the answer, or is the name of an input. */
function checkTemplates(
  bundle: Document,
  printed: object,
  inputs: ReadonlySet<string>,
  operations: readonly Operation[],
): void {
  const statuses = operations.flatMap(({ responses }) => ["200", "201", "202"].map((status) => responses[status]));
  const answers = statuses.flatMap((response) => {
    const schema = response && resolved(bundle, response).content?.["application/json"]?.schema;
    return schema ? [schema] : [];
  });
  const isIn = (schema: Schema, [name, ...path]: readonly string[]): boolean => {
    const { type, items, properties = {}, oneOf = [] } = flatSchema(bundle, schema);
    if (name === undefined) return true;
    if (type === "array") return isIn(items!, [name, ...path]);
    if (oneOf.some((one) => isIn(one, [name, ...path]))) return true;
    return properties[name] !== undefined && isIn(properties[name], path);
  };
  const isKnown = (path: string) => inputs.has(path) || answers.some((answer) => isIn(answer, path.split(".")));
  for (const path of listTemplatePaths(printed))
    if (!computed.has(path) && !isKnown(path)) throw new Error(`'$${path}' is neither in the answer nor an input.`);
}

/** The columns of a table within a record, and the rows of a list, begin with the path of the list. */
function listTemplatePaths(printed: unknown): string[] {
  if (typeof printed === "string") return pathsIn(printed);
  if (typeof printed !== "object" || printed === null) return [];
  const {
    table,
    record = {},
    ...others
  } = printed as {
    table?: { of: string; columns: object };
    record?: Record<string, string>;
  };
  const inTable =
    table === undefined ? [] : [table.of, ...listTemplatePaths(table.columns).map((path) => `${table.of}.${path}`)];
  const inRecord = Object.entries(record).flatMap(([label, template]) => {
    const [list, ...others] = pathsIn(label);
    const paths = pathsIn(template);
    return list === undefined ? paths : [list, ...others, ...paths.map((path) => `${list}.${path}`)];
  });
  return [...inTable, ...inRecord, ...Object.values(others).flatMap(listTemplatePaths)];
}
