import { take, takePage, type Shown, type Visit } from "../frame/index.ts";
import { currentPage, refuseOthers } from "./place.ts";
import { scopeNames } from "./words.ts";

const list = "/admin/v1/apps";

/** The apps of a partner; of an operator all. */
export async function listOwn(visit: Visit): Promise<Shown> {
  refuseOthers(visit);
  const { api, query, t } = visit;
  const [search, cursor] = [query("search"), query("cursor")];
  const asked = { limit: 50, ...(search !== "" && { search }), ...(cursor !== "" && { cursor }) };
  const [{ items, next }, waiting, today] = await Promise.all([
    takePage(api.GET(list, { params: { query: asked } })),
    take(api.GET("/admin/v1/scope-requests", { params: { query: { state: "REQUESTED", limit: 100 } } })),
    take(api.GET("/admin/v1/today")),
  ]);
  const apps = items.map((app) => ({ ...app, waits: waiting.some(({ clientId }) => clientId === app.clientId) }));
  const model = {
    apps,
    search,
    failing: today.failingEndpoints?.first ?? [],
    more: next === null ? null : `/partner?${new URLSearchParams({ search, cursor: next }).toString()}`,
  };
  return { title: t("partner.title"), view: "list", model, page: currentPage(visit) };
}

export const showNew = (visit: Visit): Promise<Shown> => {
  refuseOthers(visit);
  const model = { isOperator: visit.permissions.reachesAll, scopes: scopeNames, chosen: visit.typed["scope"] ?? [] };
  return Promise.resolve({ title: visit.t("new.title"), view: "new", model, page: currentPage(visit) });
};

/** Registers an app; its secret stands on the page that answers, and nowhere else. */
export async function createApp(visit: Visit): Promise<Shown> {
  refuseOthers(visit);
  const { api, field, once, typed, t } = visit;
  const [clientId, provider] = [field("clientId"), field("provider")];
  const chosen = scopeNames.filter((scope) => typed["scope"]?.includes(scope));
  const made = await take(
    api.POST(list, {
      params: { header: { "Idempotency-Key": once } },
      body: {
        name: field("name"),
        type: field("type") === "PUBLIC" ? "PUBLIC" : "CONFIDENTIAL",
        pkceRequired: true,
        idTokenAlgorithm: "RS256",
        schulconnexSpelling: "V1_4",
        ...(clientId !== "" && { clientId }),
        ...(provider !== "" && { provider }),
        ...(visit.permissions.reachesAll && { scopes: chosen }),
      },
    }),
  );
  const model = {
    made,
    name: field("name"),
    isOperator: visit.permissions.reachesAll,
    address: `/partner/apps/${encodeURIComponent(made.clientId)}`,
  };
  return { title: t("new.made"), view: "made", model, page: currentPage(visit) };
}
