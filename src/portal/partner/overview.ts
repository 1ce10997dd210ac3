import type { AdminSchemas } from "../../admin/index.ts";
import { figureRanges, readPlots, type PageRequest } from "../frame/index.ts";
import { showAppPage } from "./app-page.ts";

const mostGrants = 100;
const metrics = ["signIns", "apiCalls", "refusals", "deliveries"] as const;

export async function showOverview(request: PageRequest) {
  const { call, getRecord, query, path } = request;
  const app = path.clientId;
  const range = figureRanges.find((one) => one === query("range")) ?? "month";
  const [{ record, tag }, grants, endpoints, requests, plots] = await Promise.all([
    getRecord("getApp"),
    call("listGrants", { query: { app, limit: mostGrants } }),
    call("listEndpoints", { query: { app, limit: 100 } }),
    call("listScopeRequests", { query: { app, limit: 20 } }),
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

/** `made` is a new sandbox, whose passwords are shown once. */
export async function showSandboxes(request: PageRequest, made: AdminSchemas["CreatedSandbox"] | null = null) {
  const sandboxes = await request.call("listSandboxes", { query: { app: request.path.clientId, limit: 10 } });
  return showAppPage(request, { page: "sandbox", view: "sandbox", model: { sandboxes, made } });
}

export const createSandbox = async (request: PageRequest) =>
  showSandboxes(request, await request.call("createSandbox"));
