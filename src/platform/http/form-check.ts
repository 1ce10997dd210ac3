import { resolve, type OpenApiDocument, type Operation, type Schema } from "./document.ts";
import { makeSchemaChecks, type Check } from "./schema-checks.ts";

export type FormCheck = (values: Readonly<Record<string, unknown>>) => { name: string; message: string } | null;

const formType = "application/x-www-form-urlencoded";

/** Ignores unknown names. `x-max-length` limits a field without `maxLength`, or all of an operation. */
export function makeFormCheck(
  document: OpenApiDocument,
): (operation: Operation, options?: { except?: ReadonlySet<string> }) => FormCheck {
  const { text } = makeSchemaChecks(document);
  return (operation, { except = new Set() } = {}) => {
    const fallback = operation["x-max-length"] as number | undefined;
    const checks = new Map<string, { check: Check | null; longest: number }>();
    for (const [name, schema] of listFields(document, operation)) {
      const longest = schema.maxLength ?? (schema["x-max-length"] as number | undefined) ?? fallback ?? Infinity;
      checks.set(
        name,
        except.has(name) ? { check: null, longest: fallback ?? Infinity } : { check: text(schema), longest },
      );
    }
    return (values) => {
      for (const [name, value] of Object.entries(values)) {
        const described = checks.get(name);
        if (described === undefined || typeof value !== "string" || value === "") continue;
        const { check, longest } = described;
        if (value.includes("\0")) return { name, message: "a parameter contains a NUL character" };
        if (value.length > longest) return { name, message: `${name} is longer than ${longest} characters` };
        if (check?.(value)) return { name, message: `${name} is not as described` };
      }
      return null;
    };
  };
}

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
