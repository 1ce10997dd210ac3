import { resolve, type OpenApiDocument, type Operation, type Schema } from "./document.ts";
import { makeSchemaChecks, type Check } from "./validator-library.ts";

/** What is wrong with one parameter, in words that name no value. */
export type ParameterFault = { name: string; message: string };

/**
 * Holds the parameters of a request, as texts, against an operation; null where nothing is wrong. Names that it does
 * not know pass.
 */
export type FormCheck = (values: Readonly<Record<string, unknown>>) => ParameterFault | null;

const formType = "application/x-www-form-urlencoded";

/**
 * Makes checks of what an operation takes in its query or form, for endpoints where the protocol has unknown names
 * passed over.
 *
 * Shape: a parameter without `maxLength` is at most as long as its `x-max-length` or, without one, that of its
 *        operation.
 */
export function makeFormCheck(
  document: OpenApiDocument,
): (operation: Operation, options?: { except?: ReadonlySet<string> }) => FormCheck {
  const { text } = makeSchemaChecks(document);
  return (operation, { except = new Set() } = {}) => {
    const fallback = operation["x-max-length"] as number | undefined;
    const checks = new Map<string, { check: Check; longest: number }>();
    for (const [name, schema] of listFields(document, operation)) {
      if (except.has(name)) continue;
      const longest = schema.maxLength ?? (schema["x-max-length"] as number | undefined) ?? fallback ?? Infinity;
      checks.set(name, { check: text(schema), longest });
    }
    return (values) => {
      for (const [name, value] of Object.entries(values)) {
        if (typeof value !== "string" || value === "") continue;
        if (value.includes("\0")) return { name, message: "a parameter contains a NUL character" };
        const { check, longest = fallback ?? Infinity } = checks.get(name) ?? {};
        if (value.length > longest) return { name, message: `${name} is longer than ${longest} characters` };
        if (check?.(value)) return { name, message: `${name} is not as described` };
      }
      return null;
    };
  };
}

/** The query parameters and form fields of an operation, with their schemas. */
export function listFields(document: OpenApiDocument, operation: Operation): [name: string, schema: Schema][] {
  const queries = (operation.parameters ?? [])
    .map((parameter) => resolve(document, parameter))
    .filter((parameter) => parameter.in === "query");
  const form = operation.requestBody?.content?.[formType]?.schema;
  const { properties = {} } = form === undefined ? {} : resolve(document, form);
  return [
    ...queries.map(({ name, schema = {} }): [string, Schema] => [name, schema]),
    ...Object.entries(properties).map(([name, schema]): [string, Schema] => [name, resolve(document, schema)]),
  ];
}
