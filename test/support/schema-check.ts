import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

/**
 * Makes a check of values against schemas of a document, with ajv alone, apart from what the service uses. It returns
 * what is wrong, or nothing; a property that no schema names is wrong.
 *
 * Shape: with `coerceTypes`, values are as a header or query has them, where a number is written out.
 */
export function makeCheck(document: { components: object }, { coerceTypes = false } = {}) {
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    allErrors: true,
    coerceTypes,
    formats: { int32: true, int64: true, binary: true },
  });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "document", components: close(withoutExamples(document.components)) });
  const compiled = new Map<object, ValidateFunction>();
  return (schema: object, value: unknown): string => {
    let validate = compiled.get(schema);
    if (validate === undefined) {
      const own = close(rebase(withoutExamples(schema)));
      validate = ajv.compile({ type: "object", required: ["value"], properties: { value: own } });
      compiled.set(schema, validate);
    }
    if (validate({ value })) return "";
    return (validate.errors ?? [])
      .map(({ instancePath, message, params }) => `${instancePath} ${message ?? ""} ${JSON.stringify(params)}`)
      .join("; ");
  };
}

const rebase = (schema: object) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')) as object;

// In an example, an `id` would pass for the name of a schema.
const withoutExamples = (part: object): object =>
  JSON.parse(
    JSON.stringify(part, (key, value: unknown) => (key === "example" || key === "examples" ? undefined : value)),
  ) as object;

/** The schema without properties that it does not name: one that comes all the same is one that nobody documented. */
function close<T>(node: T): T {
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map(close) as T;
  const closed = Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, close(inner as unknown)]));
  return (
    "properties" in closed && closed["type"] === "object" && closed["additionalProperties"] === undefined
      ? { ...closed, additionalProperties: false }
      : closed
  ) as T;
}
