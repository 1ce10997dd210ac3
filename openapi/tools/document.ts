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
export type MediaType = { schema?: Schema; encoding?: Record<string, unknown> };
export type Content = Record<string, MediaType>;
/** What ends: `x-sunset` is the date after which it may be gone. */
type Ending = { deprecated?: boolean; "x-sunset"?: string };
export type Parameter = Ending & {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
  content?: Content;
  style?: string;
  explode?: boolean;
  allowReserved?: boolean;
  allowEmptyValue?: boolean;
};
export type Header = { $ref?: string; required?: boolean; schema?: Schema };
export type Answer = { $ref?: string; headers?: Record<string, Header>; content?: Content };
export type PathItem = Record<string, unknown> & { parameters?: Parameter[] };
export type Operation = Ending & {
  operationId: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { $ref?: string; required?: boolean; content?: Content };
  responses: Record<string, Answer>;
  callbacks?: Record<string, { $ref?: string } & Record<string, PathItem | string>>;
  security?: Record<string, string[]>[];
};
export type Document = {
  info: { version: string };
  servers?: { url: string }[];
  paths: Record<string, PathItem>;
  /** Of OpenAPI 3.1: what the service calls. */
  webhooks?: Record<string, PathItem>;
  components?: { schemas?: Record<string, Schema>; securitySchemes?: Record<string, unknown>; [kind: string]: unknown };
  security?: Record<string, string[]>[];
};

export const bundleFolder = join(import.meta.dirname, "../../generated/openapi");
/** A folder for each released version, which never changes again. */
export const releasesFolder = join(import.meta.dirname, "../released");

const byVersion = new Intl.Collator("en", { numeric: true });

/** The released versions, newest first. */
export const listVersions = (folder = releasesFolder): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .sort(byVersion.compare)
    .reverse();

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

export const readDocument = (path: string): Document => parse(readFileSync(path, "utf8")) as Document;

/** For staff: its releases are in a folder of their own, so that partners get theirs alone. */
const forStaff = "admin";
const forStaffReleases = join(releasesFolder, forStaff);

/** Where the releases of a contract are, each in the folder of its version. */
export const releasesOf = (name: string): string => (name === forStaff ? forStaffReleases : releasesFolder);

const newestIn = (folder: string): string => join(folder, listVersions(folder)[0] ?? "none");
/** The last release of the contracts for partners. */
export const releasedFolder = newestIn(releasesFolder);
/** The last release of every contract. */
export const releasedFolders = [releasedFolder, newestIn(forStaffReleases)];

/** Names of the bundles in a folder, without their ending. */
export const allDocumentNames = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => basename(name, ".yaml"))
    .sort();

/** Names of the bundles for partners in a folder. */
export const documentNames = (folder: string): string[] => allDocumentNames(folder).filter((name) => name !== forStaff);

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
export const operationsOf = (document: Document, path: string): Record<string, Operation> =>
  operationsIn(document.paths[path] ?? {});

export function operationsIn(item: PathItem): Record<string, Operation> {
  const found = methods.filter((method) => item[method] !== undefined);
  return Object.fromEntries(
    found.map((method) => {
      const operation = item[method] as Operation;
      return [method, { ...operation, parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])] }];
    }),
  );
}
