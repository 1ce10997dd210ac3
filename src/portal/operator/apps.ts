import {
  Refused,
  refuseField,
  unwrap,
  unwrapPage,
  type Redirect,
  type PageView,
  type PageRequest,
} from "../frame/index.ts";

export async function listApps(request: PageRequest): Promise<PageView> {
  const { api, query, param, field, t } = request;
  const search = query("search");
  const asked = { limit: 50, ...(search !== "" && { search }), ...request.cursor };
  const [apps, waiting] = await Promise.all([
    unwrapPage(api.GET("/admin/v1/apps", { params: { query: asked } })),
    unwrapPage(api.GET("/admin/v1/scope-requests", { params: { query: { state: "REQUESTED", limit: 20 } } })),
  ]);
  const typed = { id: param("scopeRequestId"), note: field("note") };
  const model = {
    search,
    apps: apps.items,
    requests: waiting.items,
    areMore: waiting.next !== null,
    typedNote: typed,
    more: apps.more("/admin/apps", { search }),
  };
  return { title: t("frame.pages.operator_apps"), view: "apps", model };
}

/** Accepts a request that was already decided this way, because the form was sent twice. */
async function unlessDecided(
  request: PageRequest,
  call: Promise<unknown>,
  state: "APPROVED" | "REFUSED",
): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "scope_request_decided") throw error;
    const query = { app: request.field("app"), state, limit: 20 };
    const decided = await unwrap(request.api.GET("/admin/v1/scope-requests", { params: { query } }));
    if (!decided.some(({ id }) => id === request.path.scopeRequestId)) throw error;
  }
}

export async function approve(request: PageRequest): Promise<Redirect> {
  const note = request.field("note");
  const call = request.api.POST("/admin/v1/scope-requests/{scopeRequestId}/approval", {
    params: { path: request.path },
    ...(note !== "" && { body: { note } }),
  });
  await unlessDecided(request, unwrap(call), "APPROVED");
  return { to: "/admin/apps", done: "requestApproved" };
}

export async function refuse(request: PageRequest): Promise<Redirect> {
  const note = request.field("note");
  if (note === "") throw refuseField("note", "note_missing");
  const call = request.api.POST("/admin/v1/scope-requests/{scopeRequestId}/refusal", {
    params: { path: request.path },
    body: { note },
  });
  await unlessDecided(request, unwrap(call), "REFUSED");
  return { to: "/admin/apps", done: "requestRefused" };
}
