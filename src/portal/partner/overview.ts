import type { AdminSchemas } from "../../admin/index.ts";
import { figureRanges, type PageRequest, readPlots, refuseField } from "../frame/index.ts";
import { showAppPage } from "./app-page.ts";
import { listIds, readIds } from "./list.ts";

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
  return showAppPage(request, "overview", {
    app: record,
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
  });
}

/** `made` is a new sandbox, whose passwords are shown once. */
export async function showSandboxes(request: PageRequest, made: AdminSchemas["CreatedSandbox"] | null = null) {
  const sandboxes = await request.call("listSandboxes", { query: { app: request.path.clientId, limit: 10 } });
  return showAppPage(request, "sandbox", { sandboxes, made });
}

export const createSandbox = async (request: PageRequest) =>
  showSandboxes(request, await request.call("createSandbox"));

/** `preview` is what a move would do. */
export async function showIds(request: PageRequest, preview: AdminSchemas["IdMovePreview"] | null = null) {
  const { call, find } = request;
  const [read, move, ids] = [await call("getApp"), await find("getIdMove"), await listIds(request)];
  return showAppPage(request, "ids", {
    app: read,
    move,
    choices: ids.filter(({ value }) => value !== "SHARED"),
    preview,
  });
}

export function readMove({ field, times }: PageRequest): AdminSchemas["IdMoveInput"] {
  const { subjectType, sector } = readIds(field("ids"));
  const cutOverAt = field("cutOverOn") === "" ? null : times.startOf(field("cutOverOn"));
  if (subjectType !== "PARTNER") return { subjectType: "APP", cutOverAt };
  return { subjectType, ...(sector !== undefined && { sector }), cutOverAt };
}

export async function previewMove(request: PageRequest) {
  const preview = await request.call("createIdMove", { query: { "dry-run": true }, body: readMove(request) });
  return showIds(request, preview as AdminSchemas["IdMovePreview"]);
}

/** Errors: Refused day_missing. */
export function readCutOver(request: PageRequest): AdminSchemas["IdMoveUpdate"] {
  const { cutOverAt = null } = readMove(request);
  if (cutOverAt === null && request.field("cutOverOn") !== "") throw refuseField("cutOverAt", "day_missing");
  return { cutOverAt };
}
