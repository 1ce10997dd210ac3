import { figureRanges, readPlots, refuseField, unwrap, unwrapRecord } from "../frame/index.ts";
import type { Redirect, PageView, PageRequest } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";

const mostGrants = 100;
const metrics = ["signIns", "apiCalls", "refusals", "deliveries"] as const;

export async function showOverview(request: PageRequest): Promise<PageView> {
  const { api, query } = request;
  const app = request.path.clientId;
  const range = figureRanges.find((one) => one === query("range")) ?? "month";
  const [{ record, tag }, grants, endpoints, requests, plots] = await Promise.all([
    unwrapRecord(api.GET("/admin/v1/apps/{clientId}", { params: { path: request.path } })),
    unwrap(api.GET("/admin/v1/grants", { params: { query: { app, limit: mostGrants } } })),
    unwrap(api.GET("/admin/v1/webhook-endpoints", { params: { query: { app, limit: 100 } } })),
    unwrap(api.GET("/admin/v1/scope-requests", { params: { query: { app, limit: 20 } } })),
    readPlots(request, { metrics, range, app }),
  ]);
  const waits = requests.some(({ state }) => state === "REQUESTED");
  const steps = [
    { key: "addresses", page: "registration", isDone: record.redirectUris.length > 0 },
    { key: "texts", page: "registration", isDone: record.description.de !== null && record.purpose.de !== null },
    { key: waits ? "scopesWait" : "scopes", page: "scopes", isDone: record.scopes.length > 0 },
    { key: "grants", page: "schools", isDone: grants.length > 0 },
  ];
  const model = {
    plots,
    range,
    ranges: figureRanges,
    tag,
    steps,
    isReady: steps.every(({ isDone }) => isDone),
    schools: grants.length,
    isMany: grants.length === mostGrants,
    endpoints: endpoints.length,
    failing: endpoints.filter(({ failingSince }) => failingSince !== null),
    pending: endpoints.reduce((sum, { pending }) => sum + pending, 0),
  };
  return showAppPage(request, { app: record, page: "", view: "overview", model });
}

export async function deleteApp({ api, path, field }: PageRequest): Promise<Redirect> {
  if (field("confirmed") !== path.clientId) throw refuseField("confirmed", "client_id_not_confirmed");
  const params = { path, header: { "If-Match": field("tag") } };
  await unwrap(api.DELETE("/admin/v1/apps/{clientId}", { params }));
  return { to: "/admin/apps", done: "appDeleted" };
}

export async function suspendApp(request: PageRequest): Promise<Redirect> {
  const { api, path, field } = request;
  const params = { path, header: { "If-Match": field("tag") } };
  await unwrap(api.PUT("/admin/v1/apps/{clientId}/suspension", { params, body: { reason: field("reason") } }));
  return { to: addressOf(request), done: "appSuspended" };
}

export async function resumeApp(request: PageRequest): Promise<Redirect> {
  const { api, path, field } = request;
  const params = { path, header: { "If-Match": field("tag") } };
  await unwrap(api.DELETE("/admin/v1/apps/{clientId}/suspension", { params }));
  return { to: addressOf(request), done: "appResumed" };
}
