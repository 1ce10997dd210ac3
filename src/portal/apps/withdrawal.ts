import { postAndRedirect, unwrap, unwrapRecord, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, readApp } from "./app.ts";

const route = "/admin/v1/schools/{schoolId}/grants/{clientId}";

export async function showWithdrawal(request: PageRequest): Promise<PageView> {
  const { api, path } = request;
  const [app, { tag }, changes] = await Promise.all([
    readApp(request),
    unwrapRecord(api.GET(route, { params: { path } })),
    unwrap(api.DELETE(route, { params: { path, query: { "dry-run": true } } })),
  ]);
  return {
    title: request.t("apps.withdrawal.title", { app: app.name }),
    view: "withdrawal",
    model: { app, tag, changes: changes ?? [], address: addressOf(request) },
  };
}

export const withdraw = postAndRedirect(
  "withdrawn",
  addressOf,
  ({ api, path, field }) => api.DELETE(route, { params: { path, header: { "If-Match": field("tag") } } }),
  "grant_not_found",
);
