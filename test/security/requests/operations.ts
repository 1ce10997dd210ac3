import { listOperations, loadDocument, resolve, type OpenApiDocument } from "../../../src/platform/http/index.ts";
import { documentNames } from "../../exchanges/check.ts";

/** An operation of a contract with values that it takes. */
export type Place = {
  id: string;
  document: string;
  method: string;
  path: string;
  /** The scopes of its ways in, and whether it wants a person's token. */
  scopes: string[];
  isOfUser: boolean;
  isProtected: boolean;
  query: [name: string, value: string][];
  body: { type: string; text: string } | null;
  statuses: number[];
  /** Whose credentials it is called with. */
  caller: Caller;
};

export type Caller = "app" | "user" | "support" | "operator" | "client";
/** What requests name, by the word that stands before it in a path. */
export type Ids = Record<string, string>;

const demoIds: Ids = {
  schools: "a0000000-0000-4000-8000-000000000001",
  groups: "b0000000-0000-4000-8000-000000000001",
  users: "c0000000-0000-4000-8000-000000000002",
  people: "c0000000-0000-4000-8000-000000000002",
  apps: "demo-lernapp",
};
const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";
const fill = (path: string, ids: Ids) =>
  path
    .replaceAll(/([\w-]+)\/\{\w+\}/g, (_all, kind: string) => `${kind}/${ids[kind] ?? missing}`)
    .replaceAll(/\{\w+\}/g, missing);

type Example = { value: unknown };
type Given = { in: string; name: string; required?: boolean; example?: unknown };
type Media = Record<string, { examples?: Record<string, object> }>;

function bodyOf(document: OpenApiDocument, content: Media | undefined): Place["body"] {
  const [type, media] = Object.entries(content ?? {})[0] ?? [];
  if (type === undefined) return null;
  const [example] = Object.values(media?.examples ?? {});
  const value = example === undefined ? {} : resolve<Example>(document, example as Example).value;
  if (type.includes("json")) return { type, text: JSON.stringify(value) };
  if (type.includes("urlencoded"))
    return { type, text: new URLSearchParams(value as Record<string, string>).toString() };
  return { type, text: "bytes" };
}

function callerOf(document: string, method: string, isOfUser: boolean): Caller {
  if (document === "admin") return "support";
  if (document === "sign-on" && method === "post") return "client";
  return isOfUser ? "user" : "app";
}

/** Every operation of every contract that is served. */
export async function listPlaces(ids: Ids = demoIds): Promise<Place[]> {
  const places: Place[] = [];
  for (const name of documentNames) {
    const document = await loadDocument(name, "schultor");
    for (const { path, method, operation } of listOperations(document)) {
      const ways = operation.security ?? [];
      const isOfUser = ways.some((way) => "userContext" in way);
      places.push({
        id: operation.operationId,
        document: name,
        method: method.toUpperCase(),
        path: fill(path, ids),
        scopes: ways.flatMap((way) => Object.values(way).flat()),
        isOfUser,
        isProtected: ways.some((way) => Object.keys(way).length > 0),
        query: (operation.parameters ?? [])
          .map((parameter) => resolve(document, parameter) as Given)
          .filter((given) => given.in === "query")
          .map(({ name: parameter, example }) => [parameter, String(example ?? "")]),
        body: bodyOf(document, operation.requestBody?.content as Media | undefined),
        statuses: Object.keys(operation.responses).map(Number),
        caller: callerOf(name, method, isOfUser),
      });
    }
  }
  return places;
}
