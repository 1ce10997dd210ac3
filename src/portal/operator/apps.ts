import { Refused, take, takePage, type Gone, type Shown, type Visit } from "../frame/index.ts";

/** The requests that wait for a decision, and all apps. */
export async function listApps(visit: Visit): Promise<Shown> {
  const { api, query, part, field, t } = visit;
  const [search, cursor] = [query("search"), query("cursor")];
  const asked = { limit: 50, ...(search !== "" && { search }), ...(cursor !== "" && { cursor }) };
  const [apps, waiting] = await Promise.all([
    takePage(api.GET("/admin/v1/apps", { params: { query: asked } })),
    takePage(api.GET("/admin/v1/scope-requests", { params: { query: { state: "REQUESTED", limit: 20 } } })),
  ]);
  const typed = { id: part("scopeRequestId"), note: field("note") };
  const model = {
    search,
    apps: apps.items,
    requests: waiting.items,
    areMore: waiting.next !== null,
    typedNote: typed,
    more: apps.next === null ? null : `/admin/apps?${new URLSearchParams({ search, cursor: apps.next }).toString()}`,
  };
  return { title: t("apps.title"), view: "apps", model };
}

const pathOf = ({ part }: Visit) => ({ scopeRequestId: part("scopeRequestId") });

/** Takes it as done where the same form came twice. Errors: Refused for every other refusal. */
async function unlessDecided(visit: Visit, call: Promise<unknown>, state: "APPROVED" | "REFUSED"): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "scope_request_decided") throw error;
    const query = { app: visit.field("app"), state, limit: 20 };
    const decided = await take(visit.api.GET("/admin/v1/scope-requests", { params: { query } }));
    if (!decided.some(({ id }) => id === visit.part("scopeRequestId"))) throw error;
  }
}

export async function approve(visit: Visit): Promise<Gone> {
  const note = visit.field("note");
  const call = visit.api.POST("/admin/v1/scope-requests/{scopeRequestId}/approval", {
    params: { path: pathOf(visit) },
    ...(note !== "" && { body: { note } }),
  });
  await unlessDecided(visit, take(call), "APPROVED");
  return { to: "/admin/apps", done: "requestApproved" };
}

export async function refuse(visit: Visit): Promise<Gone> {
  const note = visit.field("note");
  if (note === "") throw new Refused(400, { code: "note_missing" });
  const call = visit.api.POST("/admin/v1/scope-requests/{scopeRequestId}/refusal", {
    params: { path: pathOf(visit) },
    body: { note },
  });
  await unlessDecided(visit, take(call), "REFUSED");
  return { to: "/admin/apps", done: "requestRefused" };
}
