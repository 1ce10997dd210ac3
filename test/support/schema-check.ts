import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { OpenApiDocument } from "../../src/platform/http/index.ts";

type SchemaCheck = (response: object | undefined, type: string, body: unknown) => string[];
const made = new WeakMap<OpenApiDocument, SchemaCheck>();

/**
 * Lists what a body has against a response of a document; a validator of its own, apart from the one that the service
 * uses.
 */
export function makeSchemaCheck(document: OpenApiDocument): SchemaCheck {
  const known = made.get(document);
  if (known !== undefined) return known;
  const ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true, formats: { int32: true, int64: true } });
  (addFormats as unknown as typeof addFormats.default)(ajv);
  ajv.addSchema({ $id: "document", components: withoutExamples(document.components) });
  const compiled = new Map<object, ValidateFunction>();
  const check: SchemaCheck = (response, type, body) => {
    if (response === undefined) return ["this status is not described"];
    const found =
      "$ref" in response ? document.components.responses?.[String(response.$ref).split("/").at(-1)!] : response;
    const schema = (found as { content?: Record<string, { schema: object }> } | undefined)?.content?.[type]?.schema;
    if (schema === undefined) return [`the type ${type} is not described`];
    const validate = compiled.get(schema) ?? ajv.compile(rebase(withoutExamples(schema)));
    compiled.set(schema, validate);
    return validate(body)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ""}`);
  };
  made.set(document, check);
  return check;
}

const rebase = (schema: object) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')) as object;

// In an example, an `id` would pass for the name of a schema.
const withoutExamples = (part: object): object =>
  JSON.parse(
    JSON.stringify(part, (key, value: unknown) => (key === "example" || key === "examples" ? undefined : value)),
  ) as object;
