import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, refuseField, type PageRequest, type PageView } from "../frame/index.ts";

export type App = AdminSchemas["AdminApp"];

export const app = "/partner/apps/:clientId";

/** Errors: Refused role_forbids for readers who manage no apps, app_not_found for an app that they do not manage. */
export function checkReader({ may, permissions, path }: PageRequest): void {
  if (!may("listApps")) throw new Refused(403, { code: "role_forbids" });
  if (path.clientId !== undefined && permissions.ownApps?.includes(path.clientId) === false)
    throw new Refused(404, { code: "app_not_found" });
}

/** Checks the client id typed before a final change. Errors: Refused client_id_not_confirmed. */
export function checkConfirmed({ field, path }: PageRequest): void {
  if (field("confirmed") !== path.clientId) throw refuseField("confirmed", "client_id_not_confirmed");
}

export const currentPage = ({ permissions }: PageRequest): "operator_apps" | "partner" =>
  permissions.reachesAll ? "operator_apps" : "partner";

const appPages = [
  ...(["", "registration", "secret", "schools", "erasures", "usage", "scopes", "agreement"] as const),
  ...(["webhooks", "ids", "sandbox", "sign-ons", "requests", "log", "docs"] as const),
];
type AppPage = (typeof appPages)[number];

type Showing = Pick<PageView, "assets" | "dropsTyped"> & {
  app?: App;
  page: AppPage;
  view: string;
  title?: string;
  model?: object;
};

/** A page of an app with links to the others; `app` if the page has read it already. */
export async function showAppPage(request: PageRequest, shown: Showing): Promise<PageView> {
  const { app: read = await request.call("getApp"), page, view, title, model = {}, ...others } = shown;
  const address = request.at(app);
  const links = appPages.map((name) => ({
    label: request.t(`partner.pages.${name || "overview"}`),
    href: name === "" ? address : `${address}/${name}`,
    isCurrent: name === page,
  }));
  const name = title ?? request.t(`partner.pages.${page || "overview"}`);
  return {
    title: page === "" ? read.name : request.t("partner.titleOf", { page: name, app: read.name }),
    view,
    page: currentPage(request),
    ...others,
    model: { app: read, address, links, isOperator: request.permissions.reachesAll, ...model },
  };
}

export async function listSchools(request: PageRequest): Promise<PageView> {
  const { items, more } = await request.list("listGrants", { query: { app: request.path.clientId } });
  const model = { grants: items, more: more(request.at(`${app}/schools`)) };
  return showAppPage(request, { page: "schools", view: "schools", model });
}

export async function listErasures(request: PageRequest): Promise<PageView> {
  const { items, more } = await request.list("listOpenErasures", { query: { app: request.path.clientId } });
  const model = { schools: items, more: more(request.at(`${app}/erasures`)) };
  return showAppPage(request, { page: "erasures", view: "erasures", model });
}
