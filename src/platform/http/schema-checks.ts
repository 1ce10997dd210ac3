import Ajv from "ajv-draft-04";
import addFormats from "ajv-formats";
import { uuidPattern } from "../crypto/ids.ts";
import { isDay, isInstant } from "../clock.ts";
import { collectComponents, type OpenApiDocument } from "./document.ts";

export type Fault = {
  instancePath: string;
  keyword: string;
  message?: string;
  params?: Readonly<Record<string, unknown>>;
};
export type Check = (value: unknown) => Fault[] | null;

type SchemaChecks = Record<"text" | "json" | "everyFault", (schema: object) => Check>;

/** The formats of ajv take the 31st day of every month, and a 70th minute. */
export const formats = {
  uuid: { type: "string", validate: uuidPattern },
  date: { type: "string", validate: isDay },
  "date-time": { type: "string", validate: isInstant },
} as const;

/** Code that is not optimized compiles a third faster and runs as fast, because V8 optimizes what runs often. */
export const code = { optimize: false } as const;

const madeChecks = new WeakMap<OpenApiDocument, SchemaChecks>();

/**
 * Compiled at their first use, once per process: `text` for query and form values, `json` for JSON bodies, of which
 * it finds the first fault; `everyFault` finds all.
 */
export function makeSchemaChecks(document: OpenApiDocument): SchemaChecks {
  const known = madeChecks.get(document);
  if (known !== undefined) return known;
  const checks = {
    text: makeCompiler(document, { coerceTypes: true }),
    json: makeCompiler(document),
    everyFault: makeCompiler(document, { allErrors: true }),
  };
  madeChecks.set(document, checks);
  return checks;
}

function makeCompiler(document: OpenApiDocument, options: { coerceTypes?: true; allErrors?: true } = {}) {
  // OpenAPI 3.0 describes values with the fourth draft of JSON Schema.
  const ajv = new Ajv.default({ strict: false, validateSchema: false, useDefaults: true, code, ...options });
  addFormats.default(ajv, { mode: "fast" });
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  const collected = {};
  const added = new Set<string>();
  // Added one by one, so that a component is compiled once, however many schemas refer to it.
  const addComponentsOf = (schema: object): void => {
    const { schemas = {} } = collectComponents(document, schema, collected);
    for (const [name, component] of Object.entries(schemas)) {
      if (added.has(name)) continue;
      added.add(name);
      ajv.addSchema(prepare(component), `${componentBase}${name}`);
    }
  };
  const compiled = new WeakMap<object, ReturnType<typeof ajv.compile>>();
  const compile = (schema: object) => {
    addComponentsOf(schema);
    return ajv.compile({ type: "object", required: ["value"], properties: { value: prepare(schema) } });
  };
  return (schema: object): Check =>
    (value) => {
      const check = compiled.get(schema) ?? compile(schema);
      compiled.set(schema, check);
      return check({ value }) ? null : (check.errors ?? []);
    };
}

const componentBase = "component:/";

/** Replaces references within the document by the addresses at which the validator knows the components. */
const prepare = (schema: object): object =>
  JSON.parse(
    JSON.stringify(withoutExamples(schema)).replaceAll('"#/components/schemas/', `"${componentBase}`),
  ) as object;

/** Without examples, because a validator takes an `id` in them for a schema id. */
export function withoutExamples<T extends object>(part: object): T {
  return JSON.parse(
    JSON.stringify(part, (key, value: unknown) => (key === "example" || key === "examples" ? undefined : value)),
  ) as T;
}
