import type { AdminSchemas } from "../../admin/index.ts";
import { unwrap, unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { currentPage, refuseOthers } from "./app-page.ts";
import { scopeNames } from "./options.ts";

const list = "/admin/v1/apps";

export async function listOwn(request: PageRequest): Promise<PageView> {
  refuseOthers(request);
  const { api, query, t } = request;
  const search = query("search");
  const asked = { limit: 50, ...(search !== "" && { search }), ...request.cursor };
  const [{ items, more }, waiting, today] = await Promise.all([
    unwrapPage(api.GET(list, { params: { query: asked } })),
    unwrap(api.GET("/admin/v1/scope-requests", { params: { query: { state: "REQUESTED", limit: 100 } } })),
    unwrap(api.GET("/admin/v1/today")),
  ]);
  const apps = items.map((app) => ({ ...app, waits: waiting.some(({ clientId }) => clientId === app.clientId) }));
  const model = {
    apps,
    search,
    overdue: today.overdueErasures.first,
    failing: today.failingEndpoints?.first ?? [],
    more: more("/partner", { search }),
  };
  return { title: t("frame.pages.partner"), view: "list", model, page: currentPage(request) };
}

export async function showNew(request: PageRequest): Promise<PageView> {
  refuseOthers(request);
  const model = {
    isOperator: request.permissions.reachesAll,
    scopes: scopeNames,
    chosen: request.typed["scope"] ?? [],
    ids: await listIds(request),
  };
  return { title: request.t("words.newApp"), view: "new", model, page: currentPage(request) };
}

/** The ids of people to choose from for a new app: its own, those of each sector, or for operators the shared ones. */
export async function listIds({ api, permissions }: PageRequest): Promise<{ value: string; app?: string }[]> {
  const { items } = await unwrapPage(api.GET(list, { params: { query: { limit: 100 } } }));
  const sectors = new Map(
    items.flatMap(({ subjectType, sector, name }) => (subjectType === "PARTNER" ? [[sector!, name] as const] : [])),
  );
  return [
    { value: "APP" },
    { value: "PARTNER" },
    ...[...sectors].map(([value, app]) => ({ value, app })),
    ...(permissions.reachesAll ? [{ value: "SHARED" }] : []),
  ];
}

export function readIds(value: string): Pick<AdminSchemas["AppInput"], "subjectType" | "sector"> {
  if (value === "PARTNER" || value === "SHARED") return { subjectType: value };
  return value === "" || value === "APP" ? { subjectType: "APP" } : { subjectType: "PARTNER", sector: value };
}

export async function createApp(request: PageRequest): Promise<PageView> {
  refuseOthers(request);
  const { api, field, idempotencyKey, typed, t } = request;
  const [clientId, provider] = [field("clientId"), field("provider")];
  const chosen = scopeNames.filter((scope) => typed["scope"]?.includes(scope));
  const made = await unwrap(
    api.POST(list, {
      params: { header: { "Idempotency-Key": idempotencyKey } },
      body: {
        name: field("name"),
        type: field("type") === "PUBLIC" ? "PUBLIC" : "CONFIDENTIAL",
        pkceRequired: true,
        idTokenAlgorithm: "RS256",
        schulconnexSpelling: "V1_4",
        ...readIds(field("ids")),
        ...(clientId !== "" && { clientId }),
        ...(provider !== "" && { provider }),
        ...(request.permissions.reachesAll && { scopes: chosen }),
      },
    }),
  );
  const model = {
    made,
    name: field("name"),
    isOperator: request.permissions.reachesAll,
    address: `/partner/apps/${encodeURIComponent(made.clientId)}`,
  };
  return { title: t("new.made"), view: "made", model, page: currentPage(request) };
}
