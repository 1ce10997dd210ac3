import { nameOf, unwrap, unwrapPage, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { addressOf, pathOf, readPerson } from "./record.ts";

const most = 100;

export async function showUses(request: PageRequest): Promise<PageView> {
  const { api, t } = request;
  const params = { path: pathOf(request), query: { limit: most } };
  const { record } = await readPerson(request);
  const none = { items: [] };
  const [apps, sessions, consents] = await Promise.all([
    unwrap(api.GET("/admin/v1/people/{personId}/apps", { params: { path: pathOf(request) } })),
    record.isGuest ? none : unwrapPage(api.GET("/admin/v1/people/{personId}/sessions", { params })),
    record.isGuest ? none : unwrapPage(api.GET("/admin/v1/people/{personId}/consents", { params })),
  ]);
  const model = {
    base: addressOf(request),
    fullName: nameOf(record, request),
    apps,
    mayChange: request.may("endSession"),
    sessions: sessions.items,
    consents: consents.items,
    isGuest: record.isGuest,
  };
  return { title: t("uses.title"), view: "uses", model };
}

export async function endSession(request: PageRequest): Promise<Redirect> {
  const { api, param } = request;
  const params = { path: { ...pathOf(request), sessionId: param("sessionId") } };
  await unwrap(api.DELETE("/admin/v1/people/{personId}/sessions/{sessionId}", { params }));
  return { to: `${addressOf(request)}/apps`, done: "sessionEnded" };
}

export async function withdrawConsent(request: PageRequest): Promise<Redirect> {
  const { api, param } = request;
  const params = { path: { ...pathOf(request), clientId: param("clientId") } };
  await unwrap(api.DELETE("/admin/v1/people/{personId}/consents/{clientId}", { params }));
  return { to: `${addressOf(request)}/apps`, done: "consentWithdrawn" };
}
