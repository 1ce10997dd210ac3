import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, Refused, refuseField, type PageRequest, type PageView } from "../frame/index.ts";

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
  ...(["overview", "registration", "secret", "schools", "erasures", "usage", "scopes", "agreement"] as const),
  ...(["webhooks", "ids", "sandbox", "sign-ons", "requests", "log", "docs"] as const),
];

type Options = Pick<PageView, "assets" | "dropsTyped"> & {
  /** The template and the title, if they are not those of the page. */
  view?: string;
  title?: string;
};

/** A page of an app with links to the others; `app` of the model if the page has read it already. */
export async function showAppPage(
  { call, at, t, permissions }: PageRequest,
  page: (typeof appPages)[number],
  { app: read, ...model }: { app?: App; [name: string]: unknown },
  { view = page, title = t(`partner.pages.${page}`), ...options }: Options = {},
): Promise<PageView> {
  const shown = read ?? (await call("getApp"));
  const address = at(app);
  const links = appPages.map((name) => ({
    label: t(`partner.pages.${name}`),
    href: name === "overview" ? address : `${address}/${name}`,
    isCurrent: name === page,
  }));
  const whole = page === "overview" ? shown.name : t("partner.titleOf", { page: title, app: shown.name });
  const shared = { app: shown, address, links, isOperator: permissions.reachesAll };
  return makePage(view, whole, { ...shared, ...model }, options);
}

export async function listSchools(request: PageRequest): Promise<PageView> {
  const { items, more } = await request.list("listGrants", { query: { app: request.path.clientId } });
  return showAppPage(request, "schools", { grants: items, more });
}

export async function listErasures(request: PageRequest): Promise<PageView> {
  const { items, more } = await request.list("listOpenErasures", { query: { app: request.path.clientId } });
  return showAppPage(request, "erasures", { schools: items, more });
}
