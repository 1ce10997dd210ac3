import type { DataOf } from "../../admin/index.ts";
import { makePage, figureRanges, makeArea, onlyIf, readPlots, Refused, refuseField } from "../frame/index.ts";
import type { PageRequest, Redirect } from "../frame/index.ts";

export const operatorPages = makeArea({ folder: import.meta.dirname, page: "operator_apps" }, (pages) => {
  const apps = pages.at("/admin/apps", onlyIf("approveScopeRequest", listApps));
  apps.post("requests/:scopeRequestId/approval", approve);
  apps.post("requests/:scopeRequestId/refusal", onlyIf("refuseScopeRequest", refuse));
  pages.at("/admin/keys", onlyIf("listSigningKeys", showKeys), { page: "operator_keys" }).post("rotation", rotateKeys);
  pages.at("/admin/figures", onlyIf("getHealth", showFigures), { page: "operator_figures" });
});

const mostWaiting = 20;

async function listApps({ call, list, query, param, field, t }: PageRequest) {
  const search = query("search");
  const [apps, requests] = await Promise.all([
    list("listApps", { query: { search } }),
    call("listScopeRequests", { query: { state: "REQUESTED", limit: mostWaiting + 1 } }),
  ]);
  return makePage("apps", t("frame.pages.operator_apps"), {
    search,
    apps: apps.items,
    requests: requests.slice(0, mostWaiting),
    areMore: requests.length > mostWaiting,
    typedNote: { id: param("scopeRequestId"), note: field("note") },
    more: apps.more,
  });
}

/** Decides a request. One that was already decided this way is no refusal, because the form was sent twice. */
async function decide(
  { call, field, path }: PageRequest,
  decision: Promise<DataOf<"approveScopeRequest">>,
  { state, done }: { state: "APPROVED" | "REFUSED"; done: string },
): Promise<Redirect> {
  await decision.catch(async (error: unknown) => {
    if (!(error instanceof Refused) || error.code !== "scope_request_decided") throw error;
    const decided = await call("listScopeRequests", { query: { app: field("app"), state, limit: 20 } });
    if (!decided.some(({ id }) => id === path.scopeRequestId)) throw error;
  });
  return { to: "/admin/apps", done };
}

function approve(request: PageRequest): Promise<Redirect> {
  const note = request.field("note");
  const decision = request.call("approveScopeRequest", note === "" ? {} : { body: { note } });
  return decide(request, decision, { state: "APPROVED", done: "requestApproved" });
}

async function refuse(request: PageRequest): Promise<Redirect> {
  const note = request.field("note");
  if (note === "") throw refuseField("note", "note_missing");
  const decision = request.call("refuseScopeRequest", { body: { note } });
  return decide(request, decision, { state: "REFUSED", done: "requestRefused" });
}

async function showKeys({ call, now, t }: PageRequest) {
  const keys = await call("listSigningKeys", { query: { limit: 100 } });
  const usableAt = keys.map((key) => key.usableAt ?? "").reduce((latest, at) => (at > latest ? at : latest), "");
  const isTooNew = usableAt !== "" && new Date(usableAt) > now;
  return makePage("keys", t("keys.title"), { keys, tooNewUntil: isTooNew ? usableAt : null });
}

async function rotateKeys({ call, field }: PageRequest): Promise<Redirect> {
  await call("rotateSigningKeys", { query: field("force") === "on" ? { force: true } : {} });
  return { to: "/admin/keys", done: "keysRotated" };
}

const metrics = ["signIns", "passwordSignIns", "tokens", "apiCalls", "refusals", "deliveries"] as const;

async function showFigures(request: PageRequest) {
  const { call, query, t } = request;
  const range = figureRanges.find((one) => one === query("range")) ?? "day";
  const [health, held, plots] = await Promise.all([
    call("getHealth"),
    call("listImports", { query: { state: "HELD", limit: 20 } }),
    readPlots(request, { metrics, range }),
  ]);
  return makePage("figures", t("frame.pages.operator_figures"), { health, held, plots, range, ranges: figureRanges });
}
