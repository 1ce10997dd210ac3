import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, type Download, type PageRequest, type PageView } from "../frame/index.ts";
import { app as addressOfApp, wordsOf } from "./app.ts";

type Resource = AdminSchemas["AppViewResource"];

const lists = ["people", "users", "groups", "school", "personen-info"] as const satisfies Resource[];
const singles = ["person", "user", "group"] as const satisfies Resource[];
const singleOf: Partial<Record<Resource, Resource>> = { people: "person", users: "user", groups: "group" };

/** Records on a page; those of Schulconnex are long. */
const onPage = (resource: Resource): number => (resource === "personen-info" ? 8 : 20);
const mostText = 6_000;

export async function showView(request: PageRequest): Promise<PageView> {
  const query = readViewQuery(request);
  const [app, view] = await Promise.all([
    request.call("getCatalogueApp"),
    request.call("getAppView", { query: query }),
  ]);
  const from = Number(/^\d{1,7}$/.exec(request.query("from"))?.[0] ?? 0);
  const end = from + onPage(query.resource);
  const isShown = view.status === 200 && view.body !== null;
  const { count, records } = isShown ? readRecords(view.body!, { from, end }) : { count: 0, records: [] };
  const address = `${request.at(addressOfApp)}/view`;
  const search = new URLSearchParams({ resource: query.resource, ...(query.id !== undefined && { id: query.id }) });
  return makePage("view", request.t("apps.view.title", { app: app.name }), {
    app,
    view,
    asked: query,
    lists,
    single: singleOf[query.resource],
    address,
    words: wordsOf(request),
    from,
    count,
    records,
    isWhole: (view.body ?? "").length <= mostText,
    text: (view.body ?? "").slice(0, mostText),
    bytes: Buffer.byteLength(view.body ?? ""),
    file: `${address}/file?${search.toString()}`,
    more: end < count ? `${address}?${search.toString()}&from=${end}` : null,
  });
}

export async function handView(request: PageRequest): Promise<Download> {
  const query = readViewQuery(request);
  const { body, contentType } = await request.call("getAppView", { query: query });
  return { file: Buffer.from(body ?? ""), type: contentType, name: `${query.resource}.json` };
}

function readViewQuery({ query }: PageRequest): { resource: Resource; id?: string } {
  const single = singles.find((one) => one === query("resource"));
  if (single !== undefined) return { resource: single, id: query("id") };
  return { resource: lists.find((one) => one === query("resource")) ?? "people" };
}

/** A value in a record; `name` is its path, such as `groups › 1 › name`. */
type Field = { name: string; value: string | null };

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/** Reads records `from` to `end` (exclusive) of a response of the IDM API or Schulconnex. */
export function readRecords(body: string, { from, end }: { from: number; end: number }) {
  const read = JSON.parse(body) as Json;
  const all = (Array.isArray(read) ? read : [read]).filter(isObject);
  const records = all.slice(from, end).map((record) => ({
    id: textOf(record["id"] ?? record["pid"]),
    name: recordName(record),
    role: textOf(record["role"]) ?? roleOf(contextsOf(record)[0]?.["rolle"]),
    groups: groupsOf(record),
    fields: fieldsOf(record),
  }));
  return { count: all.length, records };
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

const listOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

function recordName(record: JsonObject): string | null {
  const person = record["person"];
  const name = isObject(person) ? person["name"] : record["name"];
  if (!isObject(name)) return textOf(name);
  return [name["firstCall"] ?? name["vorname"], name["last"] ?? name["familienname"]]
    .filter((part) => typeof part === "string")
    .join(" ");
}

const contextsOf = (record: JsonObject): JsonObject[] => listOf(record["personenkontexte"]);

const schulconnexRoles: Record<string, string> = { LERN: "STUDENT", LEHR: "TEACHER" };
const roleOf = (value: Json | undefined): string | null => {
  const role = textOf(value);
  return role === null ? null : (schulconnexRoles[role] ?? "OTHER");
};

function groupsOf(record: JsonObject): string[] {
  const named = [
    ...listOf(record["groups"]).map(({ name }) => textOf(name)),
    ...contextsOf(record)
      .flatMap(({ gruppen }) => listOf(gruppen))
      .map(({ gruppe }) => (isObject(gruppe) ? textOf(gruppe["bezeichnung"]) : null)),
  ];
  return named.filter((name) => name !== null);
}

function fieldsOf(value: Json, way: string[] = []): Field[] {
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((one, index) => fieldsOf(one, [...way, String(index + 1)]));
  if (isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([name, one]) => fieldsOf(one, [...way, name]));
  const written = value === null || typeof value === "object" ? null : String(value);
  return [{ name: way.join(" › "), value: written }];
}
