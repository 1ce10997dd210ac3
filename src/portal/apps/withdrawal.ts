import { Refused, take, takeRecord, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, pathOf, readApp } from "./app.ts";

const route = "/admin/v1/schools/{schoolId}/grants/{clientId}";

/** What happens when the school takes everything back from an app. */
export async function showWithdrawal(visit: Visit): Promise<Shown> {
  const path = pathOf(visit);
  const [app, { tag }, changes] = await Promise.all([
    readApp(visit),
    takeRecord(visit.api.GET(route, { params: { path } })),
    take(visit.api.DELETE(route, { params: { path, query: { "dry-run": true } } })),
  ]);
  return {
    title: visit.t("apps.withdrawal.title", { app: app.name }),
    view: "withdrawal",
    model: { app, tag, changes: changes ?? [], address: addressOf(visit) },
  };
}

export async function withdraw(visit: Visit): Promise<Gone> {
  const header = { "If-Match": visit.field("tag") };
  await take(visit.api.DELETE(route, { params: { path: pathOf(visit), header } })).catch((error: unknown) => {
    // The same form came twice: there is nothing left to take back.
    if (!(error instanceof Refused) || error.code !== "grant_not_found") throw error;
  });
  return { to: addressOf(visit), done: "withdrawn" };
}
