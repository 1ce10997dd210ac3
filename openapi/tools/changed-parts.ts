import { isDeepStrictEqual } from "node:util";
import { operationsOf, type Document } from "./document.ts";

/** What is for people to read, in any object that has no member of such a name. */
const words = new Set(["description", "summary", "title", "example", "examples", "tags"]);
/** Read by the service alone; clients do not depend on them. */
const forTheService = new Set(["x-roles", "x-self", "x-set-up-link"]);
/** Objects whose members are named by us: a property called `title` is no word. */
const named = new Set(["properties", "headers", "schemas", "parameters", "responses", "scopes", "x-claims-by-scope"]);

/** A part of a contract without the words for people, with everything that it refers to except schemas. */
function essence(document: Document, node: unknown, members = false): unknown {
  if (Array.isArray(node)) return node.map((item) => essence(document, item));
  if (typeof node !== "object" || node === null) return node;
  const { $ref } = node as { $ref?: unknown };
  if (typeof $ref === "string" && !$ref.startsWith("#/components/schemas/"))
    return essence(document, followed(document, $ref));
  return Object.fromEntries(
    comparedKeys(node, members).map((key) => {
      const value = (node as Record<string, unknown>)[key];
      return [key, essence(document, value, named.has(key) && !Array.isArray(value))];
    }),
  );
}

/** The keys of a node without those that are for people or for the service; `members` have names of ours. */
export const comparedKeys = (node: object, members: boolean): string[] =>
  Object.keys(node).filter((key) => members || !(words.has(key) || forTheService.has(key)));

const followed = (document: Document, $ref: string): unknown =>
  $ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key.replaceAll("~1", "/").replaceAll("~0", "~")], {
      ...document,
    });

/** The operations by their operationId and the schemas and security schemes by name, each as its essence. */
function partsOf(document: Document): Map<string, unknown> {
  const operations = Object.keys(document.paths).flatMap((path) =>
    Object.entries(operationsOf(document, path)).map(([method, operation]): [string, unknown] => [
      operation.operationId,
      { path, method, security: document.security, ...(essence(document, operation) as object) },
    ]),
  );
  const { schemas = {}, securitySchemes = {} } = document.components ?? {};
  const others = Object.entries({ ...schemas, ...securitySchemes }).map(([name, part]): [string, unknown] => [
    name,
    essence(document, part),
  ]);
  return new Map([...operations, ...others]);
}

/**
 * Names the operations, schemas and security schemes in which two bundles differ, sorted, whatever their words say.
 *
 * A parameter, answer or header that is shared counts for each operation that uses it; a schema counts by itself.
 */
export function listChangedParts(before: Document, after: Document): string[] {
  const [old, now] = [partsOf(before), partsOf(after)];
  const names = new Set([...old.keys(), ...now.keys()]);
  return [...names].filter((name) => !isDeepStrictEqual(old.get(name), now.get(name))).sort();
}
