import type { AdminSchemas } from "../../admin/index.ts";
import { take, type Handed, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, pathOf, readApp } from "./app.ts";
import { readRecords } from "./records.ts";
import { wordsOf } from "./words.ts";

type Resource = AdminSchemas["AppViewResource"];
type AppView = AdminSchemas["AppView"];

const lists = ["people", "users", "groups", "school", "personen-info"] as const satisfies Resource[];
const singles = ["person", "user", "group"] as const satisfies Resource[];
/** What one record of a list is asked for by. */
const singleOf: Partial<Record<Resource, Resource>> = { people: "person", users: "user", groups: "group" };

/** Of each list; records of Schulconnex are long. */
const onPage = (resource: Resource): number => (resource === "personen-info" ? 8 : 20);
const mostText = 6_000;

/** Exactly what an app sees of a school: in words, and beside it the text that it gets. */
export async function showView(visit: Visit): Promise<Shown> {
  const asked = readAsked(visit);
  const [app, view] = await Promise.all([readApp(visit), readView(visit, asked)]);
  const from = Number(/^\d{1,7}$/.exec(visit.query("from"))?.[0] ?? 0);
  const end = from + onPage(asked.resource);
  const isShown = view.status === 200 && view.body !== null;
  const { count, records } = isShown ? readRecords(view.body!, { from, end }) : { count: 0, records: [] };
  const address = `${addressOf(visit)}/view`;
  const search = new URLSearchParams({ resource: asked.resource, ...(asked.id !== undefined && { id: asked.id }) });
  const model = {
    app,
    view,
    asked,
    lists,
    single: singleOf[asked.resource],
    address,
    words: wordsOf(visit),
    from,
    count,
    records,
    isWhole: (view.body ?? "").length <= mostText,
    text: (view.body ?? "").slice(0, mostText),
    bytes: Buffer.byteLength(view.body ?? ""),
    file: `${address}/file?${search.toString()}`,
    more: end < count ? `${address}?${search.toString()}&from=${end}` : null,
  };
  return {
    title: visit.t("apps.view.title", { app: app.name }),
    view: "view",
    model,
  };
}

/** The text that the app gets, byte by byte. */
export async function handView(visit: Visit): Promise<Handed> {
  const asked = readAsked(visit);
  const { body, contentType } = await readView(visit, asked);
  return { file: Buffer.from(body ?? ""), type: contentType, name: `${asked.resource}.json` };
}

type Asked = { resource: Resource; id?: string };

function readAsked({ query }: Visit): Asked {
  const single = singles.find((one) => one === query("resource"));
  if (single !== undefined) return { resource: single, id: query("id") };
  return { resource: lists.find((one) => one === query("resource")) ?? "people" };
}

const readView = (visit: Visit, query: Asked): Promise<AppView> =>
  take(visit.api.GET("/admin/v1/schools/{schoolId}/apps/{clientId}/view", { params: { path: pathOf(visit), query } }));
