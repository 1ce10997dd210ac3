import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

/**
 * Makes a check of values against schemas of a document, with ajv alone, apart from what the service uses. It returns
 * what is wrong, or nothing; a property that no schema names is wrong.
 *
 * Shape: with `coerceTypes`, values are as a header or query has them, where a number is written out.
 */
export function makeCheck(
  document: { components: { schemas?: Record<string, object> } },
  { coerceTypes = false } = {},
) {
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    allErrors: true,
    coerceTypes,
    // Faster to compile: most schemas check only a few values.
    code: { optimize: false },
    formats: { int32: true, int64: true, binary: true },
  });
  addFormats.default(ajv);
  // Added one by one, so that a component is compiled once, however many schemas refer to it.
  const { schemas = {} } = document.components;
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(prepare(schema), `${base}${name}`);
  const compiled = new Map<object, ValidateFunction>();
  return (schema: object, value: unknown): string => {
    let validate = compiled.get(schema);
    if (validate === undefined) {
      validate = ajv.compile({ type: "object", required: ["value"], properties: { value: prepare(schema) } });
      compiled.set(schema, validate);
    }
    if (validate({ value })) return "";
    return (validate.errors ?? [])
      .map(({ instancePath, message, params }) => `${instancePath} ${message ?? ""} ${JSON.stringify(params)}`)
      .join("; ");
  };
}

const base = "component:/";

// Removes examples, because the validator takes an `id` in them for a schema id.
const prepare = (schema: object): object => {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === "example" || key === "examples" ? undefined : value,
  );
  return close(JSON.parse(text.replaceAll('"#/components/schemas/', `"${base}`)) as object);
};

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
