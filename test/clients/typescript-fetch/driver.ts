import { createRequire } from "node:module";
import { json } from "node:stream/consumers";
import { join } from "node:path";
import ts from "typescript";
import type { Look, Models } from "../fields.ts";
import type { Access, Done, fillSteps } from "../scenario.ts";

// Does with the generated TypeScript clients what it is told on standard input, and prints JSON.
// driver.ts <sources> <compiled> run: makes the calls of a scenario. driver.ts … types: tells the types of the models.

type Told = { url: string; access?: Access; steps: ReturnType<typeof fillSteps>; bundles: string[] };
type Call = (parameters: unknown) => Promise<{ accessToken?: string }>;
type Client = {
  Configuration: new (settings: Record<string, unknown>) => unknown;
  ResponseError: new () => Error & { response: Response };
} & Record<string, new (configuration: unknown) => Record<string, Call>> &
  Record<string, (value: unknown) => unknown>;

const [sources, compiled, mode] = process.argv.slice(2) as [string, string, string];
const load = createRequire(import.meta.url);
const camel = (name: string) =>
  name
    .replaceAll(/[-_](\w)/g, (_match, letter: string) => letter.toUpperCase())
    .replace(/^./, (first) => first.toLowerCase());

async function call(step: Told["steps"][number], { url, access = {} }: Told): Promise<Done> {
  const client = load(join(compiled, step.bundle)) as Client;
  const api = new client[step.api]!(new client.Configuration({ basePath: url, ...access[step.as] }));
  const parameters = Object.entries(step.parameters).map(([name, value]) => [camel(name), value]);
  try {
    const value = await api[step.operation]!(Object.fromEntries(parameters));
    if (step.keep) access[step.keep] = { accessToken: `Bearer ${value.accessToken!}` };
    const toJson = client[`${step.model!}ToJSON`] as (one: unknown) => unknown;
    return { value: Array.isArray(value) ? value.map((one) => toJson(one)) : toJson(value) };
  } catch (error) {
    if (!(error instanceof client.ResponseError)) throw error;
    return { error: { status: error.response.status, type: error.name, body: await error.response.json() } };
  }
}

/** What the compiler makes of the models of one client. */
function modelsOf(bundle: string): Models {
  const index = join(sources, bundle, "index.ts");
  const program = ts.createProgram([index], { strict: true, target: ts.ScriptTarget.ES2022, types: [] });
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(index)!)!);
  const client = load(join(compiled, bundle)) as Record<string, (value: unknown) => Record<string, unknown>>;

  const lookAt = (property: ts.Symbol): Look => {
    const type = checker.getTypeOfSymbol(property);
    const whole = checker.getNonNullableType(type);
    const nullable = type.isUnion() && type.types.some(({ flags }) => (flags & ts.TypeFlags.Null) !== 0);
    const list = checker.isArrayType(whole);
    const one = list ? checker.getTypeArguments(whole as ts.TypeReference)[0]! : whole;
    const values = (one.isUnion() ? one.types : [one]).flatMap((part) => (part.isStringLiteral() ? [part.value] : []));
    const isDate = one.symbol?.name === "Date";
    const isText = (one.flags & ts.TypeFlags.String) !== 0;
    const kind = values.length > 0 ? "enum" : isDate ? "date-time" : isText ? "text" : "other";
    return { kind, list, nullable, values };
  };
  const interfaces = exported.filter(({ name, flags }) => flags & ts.SymbolFlags.Interface && client[`${name}ToJSON`]);
  return Object.fromEntries(
    interfaces.map((model) => {
      const properties = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(model));
      return [model.name, Object.fromEntries(properties.map((property) => [property.name, lookAt(property)]))];
    }),
  );
}

const told = (await json(process.stdin)) as Told;
// These clients send the token of an OAuth scheme as it is given to them.
for (const one of Object.values(told.access ?? {}))
  if ("accessToken" in one) one.accessToken = `Bearer ${one.accessToken}`;
const done: unknown[] = [];
if (mode === "run") for (const step of told.steps) done.push(await call(step, told));
const types = () => Object.fromEntries(told.bundles.map((bundle) => [bundle, modelsOf(bundle)]));
process.stdout.write(JSON.stringify(mode === "run" ? done : types()));
