import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Media = { schema: object; example?: unknown; examples?: Record<string, { $ref?: string; value?: unknown }> };
type Content = Record<string, Media>;
export type Parameter = { name: string; in: string; required?: boolean; schema: object; example?: unknown };
type Operation = {
  operationId: string;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: Content };
  responses: Record<string, { $ref?: string; content?: Content; headers?: Record<string, unknown> }>;
};

export type Bundle = {
  name: string;
  text: string;
  document: {
    openapi: string;
    paths: Record<string, Record<string, Operation>>;
    components: Record<string, Record<string, object>>;
  };
};

const folder = join(import.meta.dirname, "..", "..", "generated", "openapi");

/** Every generated bundle, as committed. */
export const bundles: Bundle[] = readdirSync(folder)
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => {
    const name = file.replace(".yaml", "");
    // The same as JSON, which takes a second less to parse.
    const json = readFileSync(join(folder, `${name}.json`), "utf8");
    const text = readFileSync(join(folder, file), "utf8");
    return { name, text, document: JSON.parse(json) as Bundle["document"] };
  });

/** Those that are published for partners. */
export const partnerBundles = bundles.filter(({ name }) => name !== "admin");

export function findBundle(name: string): Bundle {
  return bundles.find((bundle) => bundle.name === name)!;
}

/** Follows a reference into the components of its bundle. */
export function resolve<T>(bundle: Bundle, node: T | { $ref: string }): T {
  if (typeof node !== "object" || node === null || !("$ref" in node) || typeof node.$ref !== "string") return node as T;
  const [, , kind = "", name = ""] = node.$ref.split("/");
  return bundle.document.components[kind]?.[name] as T;
}

export function listOperations(bundle: Bundle): { place: string; operation: Operation }[] {
  return Object.entries(bundle.document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ place: `${method.toUpperCase()} ${path}`, operation })),
  );
}

export type Example = { where: string; name: string; schema: object; value: unknown };

/** Every example of bodies, parameters and headers, beside the schema that it illustrates. */
export function listExamples(bundle: Bundle): Example[] {
  return listOperations(bundle).flatMap(({ place, operation }) => [
    ...listContentExamples(bundle, `${place} request`, operation.requestBody?.content),
    ...Object.entries(operation.responses).flatMap(([status, response]) => {
      const { content, headers = {} } = resolve(bundle, response);
      const inHeaders = Object.entries(headers).map(([name, header]) => ({
        name,
        ...resolve<{ schema: object; example?: unknown }>(bundle, header as never),
      }));
      return [
        ...listContentExamples(bundle, `${place} ${status}`, content),
        ...inHeaders.map(({ name, schema, example }) => ({
          where: `${place} ${status} header`,
          name,
          schema,
          value: example,
        })),
      ];
    }),
    ...(operation.parameters ?? []).map((reference) => {
      const { name, schema, example } = resolve<Parameter>(bundle, reference);
      return { where: `${place} parameter`, name, schema, value: example };
    }),
  ]);
}

function listContentExamples(bundle: Bundle, where: string, content: Content = {}): Example[] {
  return Object.values(content).flatMap(({ schema, examples = {} }) =>
    Object.entries(examples).map(([name, example]) => ({
      where,
      name,
      schema,
      value: resolve<{ value?: unknown }>(bundle, example as never).value,
    })),
  );
}

/** Every example and default inside a schema, with that schema; the same ones once. */
export function listSchemaExamples({ document }: Bundle): Example[] {
  const found = new Map<string, Example>();
  const walk = (node: unknown, where: string, areProperties: boolean): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      if (!areProperties && "type" in node && (name === "example" || name === "default"))
        found.set(JSON.stringify([node, name]), { where, name, schema: node, value });
      else if (areProperties || (name !== "example" && name !== "examples"))
        walk(value, `${where}/${name}`, !areProperties && name === "properties");
    }
  };
  walk(document, "#", false);
  return [...found.values()];
}
