import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { Bundle } from "./bundles.ts";

/**
 * Validates against a bundle's schemas, closed against fields that they do not name; answers what is wrong, or nothing.
 */
export function makeCheck(bundle: Bundle) {
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { int32: true, int64: true } });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "bundle", ...close({ components: bundle.document.components }) });
  const compiled = new Map<string, ValidateFunction>();
  return (schema: object, value: unknown): string => {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile(close(rebase(text)));
    compiled.set(text, validate);
    return validate(value)
      ? ""
      : (validate.errors ?? [])
          .map(({ instancePath, message, params }) => `${instancePath} ${message ?? ""} ${JSON.stringify(params)}`)
          .join("; ");
  };
}

const rebase = (schema: string) => JSON.parse(schema.replaceAll('"#/components', '"bundle#/components')) as object;

/** The schema without properties that it does not name: one that comes all the same is one that nobody documented. */
export function close<T>(node: T): T {
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map(close) as T;
  const closed = Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, close(inner as unknown)]));
  return (
    "properties" in closed && closed["type"] === "object" && closed["additionalProperties"] === undefined
      ? { ...closed, additionalProperties: false }
      : closed
  ) as T;
}
