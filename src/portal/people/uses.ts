import { take, takePage, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, pathOf, readPerson } from "./record.ts";
import { nameOf } from "./words.ts";

const most = 100;

/** Which apps see a person and what, where the person is signed in, and what they agreed to. */
export async function showUses(visit: Visit): Promise<Shown> {
  const { api, t } = visit;
  const params = { path: pathOf(visit), query: { limit: most } };
  const { record } = await readPerson(visit);
  const none = { items: [] };
  const [apps, sessions, consents] = await Promise.all([
    take(api.GET("/admin/v1/people/{personId}/apps", { params: { path: pathOf(visit) } })),
    record.isGuest ? none : takePage(api.GET("/admin/v1/people/{personId}/sessions", { params })),
    record.isGuest ? none : takePage(api.GET("/admin/v1/people/{personId}/consents", { params })),
  ]);
  const model = {
    base: addressOf(visit),
    fullName: nameOf(record, visit),
    apps,
    mayChange: visit.may("endSession"),
    sessions: sessions.items,
    consents: consents.items,
    isGuest: record.isGuest,
  };
  return { title: t("uses.title"), view: "uses", model };
}

export async function endSession(visit: Visit): Promise<Gone> {
  const { api, part } = visit;
  const params = { path: { ...pathOf(visit), sessionId: part("sessionId") } };
  await take(api.DELETE("/admin/v1/people/{personId}/sessions/{sessionId}", { params }));
  return { to: `${addressOf(visit)}/apps`, done: "sessionEnded" };
}

export async function withdrawConsent(visit: Visit): Promise<Gone> {
  const { api, part } = visit;
  const params = { path: { ...pathOf(visit), clientId: part("clientId") } };
  await take(api.DELETE("/admin/v1/people/{personId}/consents/{clientId}", { params }));
  return { to: `${addressOf(visit)}/apps`, done: "consentWithdrawn" };
}
