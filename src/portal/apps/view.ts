import type { AdminSchemas } from "../../admin/index.ts";
import type { Download, PageView, PageRequest } from "../frame/index.ts";
import { app as addressOfApp, wordsOf } from "./app.ts";
import { readRecords } from "./records.ts";

type Resource = AdminSchemas["AppViewResource"];

const lists = ["people", "users", "groups", "school", "personen-info"] as const satisfies Resource[];
const singles = ["person", "user", "group"] as const satisfies Resource[];
const singleOf: Partial<Record<Resource, Resource>> = { people: "person", users: "user", groups: "group" };

/** Records on a page; those of Schulconnex are long. */
const onPage = (resource: Resource): number => (resource === "personen-info" ? 8 : 20);
const mostText = 6_000;

export async function showView(request: PageRequest): Promise<PageView> {
  const asked = readViewQuery(request);
  const [app, view] = await Promise.all([
    request.call("getCatalogueApp"),
    request.call("getAppView", { query: asked }),
  ]);
  const from = Number(/^\d{1,7}$/.exec(request.query("from"))?.[0] ?? 0);
  const end = from + onPage(asked.resource);
  const isShown = view.status === 200 && view.body !== null;
  const { count, records } = isShown ? readRecords(view.body!, { from, end }) : { count: 0, records: [] };
  const address = `${request.at(addressOfApp)}/view`;
  const search = new URLSearchParams({ resource: asked.resource, ...(asked.id !== undefined && { id: asked.id }) });
  const model = {
    app,
    view,
    asked,
    lists,
    single: singleOf[asked.resource],
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
  };
  return { title: request.t("apps.view.title", { app: app.name }), view: "view", model };
}

export async function handView(request: PageRequest): Promise<Download> {
  const asked = readViewQuery(request);
  const { body, contentType } = await request.call("getAppView", { query: asked });
  return { file: Buffer.from(body ?? ""), type: contentType, name: `${asked.resource}.json` };
}

type ViewQuery = { resource: Resource; id?: string };

function readViewQuery({ query }: PageRequest): ViewQuery {
  const single = singles.find((one) => one === query("resource"));
  if (single !== undefined) return { resource: single, id: query("id") };
  return { resource: lists.find((one) => one === query("resource")) ?? "people" };
}
