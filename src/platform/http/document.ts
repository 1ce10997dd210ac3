import { readFile } from "node:fs/promises";

export type Schema = {
  type?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  enum?: unknown[];
  nullable?: boolean;
  default?: unknown;
  properties?: Record<string, Schema | Reference>;
  required?: string[];
  [keyword: `x-${string}`]: unknown;
};
export type Parameter = { name: string; in: string; required?: boolean; schema?: Schema };
type Content = Record<string, { schema?: Schema | Reference }>;
type Header = { required?: boolean; schema?: Schema };
export type Answer = { headers?: Record<string, Header | Reference>; content?: Content };
export type Operation = {
  operationId: string;
  parameters?: (Parameter | Reference)[];
  requestBody?: { required?: boolean; content?: Content };
  responses: Record<string, Answer | Reference>;
  security?: Record<string, string[]>[];
  [keyword: `x-${string}`]: unknown;
};
type Reference = { $ref: string };

export type OpenApiDocument = {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas?: Record<string, Schema>;
    parameters?: Record<string, Parameter>;
    headers?: Record<string, Header>;
    responses?: Record<string, Answer>;
    securitySchemes?: Record<string, { type: string; flows?: Record<string, { scopes?: Record<string, string> }> }>;
  };
};

const bundles = new URL("../../../generated/openapi/", import.meta.url);

const loaded = new Map<string, Promise<OpenApiDocument>>();

/** Reads a bundle once per process and fills in the operator's name. Frozen, because it is shared. */
export function loadDocument(name: string, platform: string): Promise<OpenApiDocument> {
  const key = JSON.stringify([name, platform]);
  const document = loaded.get(key) ?? readDocument(name, platform);
  loaded.set(key, document);
  return document;
}

async function readDocument(name: string, platform: string): Promise<OpenApiDocument> {
  const text = await readFile(new URL(`${name}.json`, bundles), "utf8");
  return freeze(JSON.parse(text.replaceAll("<platform>", platform)) as OpenApiDocument);
}

function freeze<T>(part: T): T {
  if (typeof part === "object" && part !== null && !Object.isFrozen(part))
    Object.values(Object.freeze(part)).forEach(freeze);
  return part;
}

export function resolve<T extends object>(document: OpenApiDocument, part: T | Reference): T {
  if (!("$ref" in part)) return part;
  const [, , kind = "", name = ""] = part.$ref.split("/");
  const component = (document.components as Record<string, Record<string, object> | undefined>)[kind]?.[name];
  if (component === undefined) throw new Error(`The contract points to something that it does not have: ${part.$ref}`);
  return resolve(document, component as T | Reference);
}

const methods = ["get", "put", "post", "delete", "patch"] as const;
type Method = (typeof methods)[number];

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

/** By kind, such as `schemas`, and name. */
type Components = Record<string, Record<string, object>>;

const references = /"\$ref":"#\/components\/(\w+)\/(\w+)"/g;

/** Adds to `collected` the components that a part of the contract refers to, directly or through others; returns it. */
export function collectComponents(document: OpenApiDocument, part: unknown, collected: Components = {}): Components {
  for (const [, kind = "", name = ""] of JSON.stringify(part).matchAll(references)) {
    const component = (document.components as Components)[kind]?.[name];
    if (component === undefined || collected[kind]?.[name] !== undefined) continue;
    (collected[kind] ??= {})[name] = component;
    collectComponents(document, component, collected);
  }
  return collected;
}

export function narrowDocument(document: OpenApiDocument, operationId: string): OpenApiDocument {
  const place = listOperations(document).find(({ operation }) => operation.operationId === operationId);
  if (place === undefined) throw new Error(`The contract has no operation ${operationId}.`);
  const { securitySchemes = {} } = document.components as Components;
  const components = collectComponents(document, place.operation, { securitySchemes });
  return { ...document, components, paths: { [place.path]: { [place.method]: place.operation } } } as OpenApiDocument;
}
