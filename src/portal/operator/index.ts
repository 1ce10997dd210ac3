import type { DataOf } from "../../admin/index.ts";
import { figureRanges, makeArea, onlyIf, readPlots, Refused, refuseField } from "../frame/index.ts";
import type { PageRequest, Redirect } from "../frame/index.ts";

export const operatorPages = makeArea({ folder: import.meta.dirname, page: "operator_apps" }, (pages) => {
  const apps = onlyIf("approveScopeRequest", listApps);
  pages.get("/admin/apps", apps);
  pages.post("/admin/apps/requests/:scopeRequestId/approval", approve, apps);
  pages.post("/admin/apps/requests/:scopeRequestId/refusal", onlyIf("refuseScopeRequest", refuse), apps);
  const keys = onlyIf("listSigningKeys", showKeys);
  pages.get("/admin/keys", keys);
  pages.post("/admin/keys/rotation", rotateKeys, keys);
  pages.get("/admin/figures", onlyIf("getHealth", showFigures));
});

const mostWaiting = 20;

async function listApps({ call, list, query, param, field, t }: PageRequest) {
  const search = query("search");
  const [apps, requests] = await Promise.all([
    list("listApps", { query: { search } }),
    call("listScopeRequests", { query: { state: "REQUESTED", limit: mostWaiting + 1 } }),
  ]);
  const model = {
    search,
    apps: apps.items,
    requests: requests.slice(0, mostWaiting),
    areMore: requests.length > mostWaiting,
    typedNote: { id: param("scopeRequestId"), note: field("note") },
    more: apps.more("/admin/apps"),
  };
  return { title: t("frame.pages.operator_apps"), view: "apps", model };
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
  const model = { keys, tooNewUntil: isTooNew ? usableAt : null };
  return { title: t("keys.title"), view: "keys", model, page: "operator_keys" as const };
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
  const model = { health, held, plots, range, ranges: figureRanges };
  return { title: t("frame.pages.operator_figures"), view: "figures", model, page: "operator_figures" as const };
}
