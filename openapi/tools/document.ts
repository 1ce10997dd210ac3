import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";

export type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  nullable?: boolean;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  additionalProperties?: boolean | Schema;
  [keyword: string]: unknown;
};
export type Content = Record<string, { schema?: Schema }>;
export type Parameter = {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
  style?: string;
  explode?: boolean;
};
export type Answer = { $ref?: string; headers?: Record<string, unknown>; content?: Content };
export type Operation = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { $ref?: string; required?: boolean; content?: Content };
  responses: Record<string, Answer>;
  security?: Record<string, string[]>[];
};
export type Document = {
  paths: Record<string, Record<string, unknown> & { parameters?: Parameter[] }>;
  components?: { schemas?: Record<string, Schema>; securitySchemes?: Record<string, unknown>; [kind: string]: unknown };
  security?: Record<string, string[]>[];
};

export const bundleFolder = join(import.meta.dirname, "../../generated/openapi");
export const releasedFolder = join(import.meta.dirname, "../released");

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

export const readDocument = (path: string): Document => parse(readFileSync(path, "utf8")) as Document;

/** For staff: no partner has a client of it, and nothing of it has been promised. */
const forStaff = new Set(["admin"]);

/** Names of the bundles for partners in a folder, without their ending. */
export const documentNames = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => basename(name, ".yaml"))
    .filter((name) => !forStaff.has(name))
    .sort();

/** What `node` stands for: the target of its $ref within `document`, or itself. */
export function resolved<T extends { $ref?: string }>(document: Document, node: T): T {
  if (node.$ref === undefined) return node;
  const target = node.$ref
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>(
      (at, key) => (at as Record<string, unknown> | undefined)?.[key.replaceAll("~1", "/").replaceAll("~0", "~")],
      document,
    );
  if (target === undefined) throw new Error(`${node.$ref} leads nowhere; only a bundle can be read here`);
  return resolved(document, target as T);
}

/** The operations of one path by method, with the parameters that they share. */
export function operationsOf(document: Document, path: string): Record<string, Operation> {
  const item = document.paths[path] ?? {};
  const found = methods.filter((method) => item[method] !== undefined);
  return Object.fromEntries(
    found.map((method) => {
      const operation = item[method] as Operation;
      return [method, { ...operation, parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])] }];
    }),
  );
}
