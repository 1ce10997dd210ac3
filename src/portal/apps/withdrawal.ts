import { Refused, unwrap, unwrapRecord, type Redirect, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, pathOf, readApp } from "./app.ts";

const route = "/admin/v1/schools/{schoolId}/grants/{clientId}";

export async function showWithdrawal(request: PageRequest): Promise<PageView> {
  const path = pathOf(request);
  const [app, { tag }, changes] = await Promise.all([
    readApp(request),
    unwrapRecord(request.api.GET(route, { params: { path } })),
    unwrap(request.api.DELETE(route, { params: { path, query: { "dry-run": true } } })),
  ]);
  return {
    title: request.t("apps.withdrawal.title", { app: app.name }),
    view: "withdrawal",
    model: { app, tag, changes: changes ?? [], address: addressOf(request) },
  };
}

export async function withdraw(request: PageRequest): Promise<Redirect> {
  const header = { "If-Match": request.field("tag") };
  await unwrap(request.api.DELETE(route, { params: { path: pathOf(request), header } })).catch((error: unknown) => {
    // The form was sent twice: the grant is already revoked.
    if (!(error instanceof Refused) || error.code !== "grant_not_found") throw error;
  });
  return { to: addressOf(request), done: "withdrawn" };
}
