import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { OpenApiDocument } from "./document.ts";

export type Fault = Pick<
  ErrorObject<string, Record<string, unknown>>,
  "instancePath" | "keyword" | "message" | "params"
>;
/** Returns what is wrong with a value. */
export type Check = (value: unknown) => Fault[] | null;
type SchemaChecks = {
  json: (schema: object) => Check;
  /** For values of a query or form, where a number is written out. */
  text: (schema: object) => Check;
  /** Converts such a value and fills in the default; null if it is invalid. */
  convert: (schema: object) => (value: unknown) => { value: unknown } | null;
};

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const madeChecks = new WeakMap<OpenApiDocument, SchemaChecks>();

/** Makes checks against schemas of a document, once per process. */
export function makeSchemaChecks(document: OpenApiDocument): SchemaChecks {
  const checks = madeChecks.get(document) ?? compileChecks(document);
  madeChecks.set(document, checks);
  return checks;
}

type Holder = { value: unknown };

function compileChecks(document: OpenApiDocument): SchemaChecks {
  const json = makeCompiler(document, { coerceTypes: false });
  const text = makeCompiler(document, { coerceTypes: true });
  const checkWith = (compile: typeof json) => (schema: object) => {
    const validate = compile(schema);
    return (value: unknown) => validate({ value });
  };
  return {
    json: checkWith(json),
    text: checkWith(text),
    convert: (schema) => {
      const validate = text(schema);
      return (value) => {
        const holder = { value };
        return validate(holder) === null ? holder : null;
      };
    },
  };
}

/** Validates a value inside an object, in which the library can replace it. Schemas are compiled on first use. */
function makeCompiler(
  { components }: OpenApiDocument,
  { coerceTypes }: { coerceTypes: boolean },
): (schema: object) => (holder: Holder) => Fault[] | null {
  const ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true, useDefaults: true, coerceTypes });
  addFormats.default(ajv, { mode: "fast" });
  ajv.addFormat("uuid", uuid);
  for (const [name, schema] of Object.entries(components.schemas ?? {}))
    ajv.addSchema(schema, `#/components/schemas/${name}`);
  const compiled = new WeakMap<object, (holder: Holder) => Fault[] | null>();
  return (schema) => {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    let validate: ValidateFunction | undefined;
    const check = (holder: Holder) => {
      validate ??= ajv.compile({ type: "object", required: ["value"], properties: { value: schema } });
      return validate(holder) ? null : (validate.errors ?? []);
    };
    compiled.set(schema, check);
    return check;
  };
}
