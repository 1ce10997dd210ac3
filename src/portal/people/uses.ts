import { nameOf, postAndRedirect, unwrap, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { addressOf, readPerson } from "./record.ts";

const most = 100;

export async function showUses(request: PageRequest): Promise<PageView> {
  const { api, t, path } = request;
  const params = { path, query: { limit: most } };
  const { record } = await readPerson(request);
  const none = { items: [] };
  const [apps, sessions, consents, links] = await Promise.all([
    unwrap(api.GET("/admin/v1/people/{personId}/apps", { params: { path } })),
    record.isGuest ? none : unwrapPage(api.GET("/admin/v1/people/{personId}/sessions", { params })),
    record.isGuest ? none : unwrapPage(api.GET("/admin/v1/people/{personId}/consents", { params })),
    record.isGuest ? none : unwrapPage(api.GET("/admin/v1/people/{personId}/upstream-links", { params })),
  ]);
  const model = {
    base: addressOf(request),
    fullName: nameOf(record, request),
    apps,
    mayChange: request.may("endSession"),
    sessions: sessions.items,
    consents: consents.items,
    links: links.items,
    mayUnlink: request.may("revokeUpstreamLink"),
    isGuest: record.isGuest,
  };
  return { title: t("words.sessions"), view: "uses", model };
}

const usesAddress = (request: PageRequest): string => `${addressOf(request)}/apps`;

export const endSession = postAndRedirect("sessionEnded", usesAddress, ({ api, path }) =>
  api.DELETE("/admin/v1/people/{personId}/sessions/{sessionId}", { params: { path } }),
);

export const withdrawConsent = postAndRedirect("consentWithdrawn", usesAddress, ({ api, path }) =>
  api.DELETE("/admin/v1/people/{personId}/consents/{clientId}", { params: { path } }),
);

export const unlink = postAndRedirect("loginUnlinked", usesAddress, ({ api, path }) =>
  api.DELETE("/admin/v1/people/{personId}/upstream-links/{connectionId}", { params: { path } }),
);
