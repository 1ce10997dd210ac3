import { readFile } from "node:fs/promises";
import { parse } from "yaml";

export type Schema = { type?: string; format?: string; minimum?: number; maximum?: number };
export type Parameter = { name: string; in: string; required?: boolean; schema?: Schema };
export type Operation = {
  operationId: string;
  parameters?: (Parameter | Reference)[];
  requestBody?: object;
  responses: Record<string, object>;
  security?: Record<string, string[]>[];
};
export type Reference = { $ref: string };
export type SecurityScheme = { type: string; flows?: Record<string, { scopes?: Record<string, string> }> };

/** A bundled OpenAPI document: every `$ref` points into its own components. */
export type OpenApiDocument = {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas?: Record<string, object>;
    parameters?: Record<string, Parameter>;
    responses?: Record<string, object>;
    securitySchemes?: Record<string, SecurityScheme>;
  };
};

const bundles = new URL("../../../generated/openapi/", import.meta.url);

/** Reads a bundle and fills the operator's name into its scopes. */
export async function loadDocument(name: string, platform: string): Promise<OpenApiDocument> {
  const text = await readFile(new URL(`${name}.yaml`, bundles), "utf8");
  return parse(text.replaceAll("<platform>", platform)) as OpenApiDocument;
}

export function resolve(document: OpenApiDocument, parameter: Parameter | Reference): Parameter {
  if (!("$ref" in parameter)) return parameter;
  const found = document.components.parameters?.[parameter.$ref.split("/").at(-1) ?? ""];
  if (found === undefined)
    throw new Error(`The contract points to a parameter that it does not have: ${parameter.$ref}`);
  return found;
}

const methods = ["get", "put", "post", "delete", "patch"] as const;
export type Method = (typeof methods)[number];

/** Every operation with its place, parameters of the path included, in the order of the document. */
export function listOperations(document: OpenApiDocument): { path: string; method: Method; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const shared = (item["parameters"] ?? []) as unknown as (Parameter | Reference)[];
      return [{ path, method, operation: { ...operation, parameters: [...shared, ...(operation.parameters ?? [])] } }];
    }),
  );
}
