import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, take, type Shown, type Visit } from "../frame/index.ts";

export type App = AdminSchemas["AdminApp"];

export const clientIdOf = ({ part }: Visit): string => part("clientId");
export const appPath = (visit: Visit) => ({ clientId: clientIdOf(visit) });

/** The address of the pages of an app. */
export const addressOf = (visit: Visit): string => `/partner/apps/${encodeURIComponent(clientIdOf(visit))}`;

/** Errors: Refused role_forbids for somebody who looks after no apps, whatever else they may read of apps. */
export function refuseOthers({ may }: Visit): void {
  if (!may("listApps")) throw new Refused(403, { code: "role_forbids" });
}

/** Errors: Refused app_not_found for an app of somebody else. */
export function refuseOtherApp(visit: Visit): void {
  refuseOthers(visit);
  if (visit.permissions.ownApps?.includes(clientIdOf(visit)) === false)
    throw new Refused(404, { code: "app_not_found" });
}

export const currentPage = ({ permissions }: Visit): "operator_apps" | "partner" =>
  permissions.reachesAll ? "operator_apps" : "partner";

export function readApp(visit: Visit): Promise<App> {
  refuseOtherApp(visit);
  return take(visit.api.GET("/admin/v1/apps/{clientId}", { params: { path: appPath(visit) } }));
}

/** The pages of one app, in the order of their links. */
export const appPages = [
  "",
  "registration",
  "secret",
  "schools",
  "scopes",
  "webhooks",
  "sandbox",
  "sign-ons",
  "requests",
  "log",
  "docs",
] as const;
export type AppPage = (typeof appPages)[number];

type Showing = Pick<Shown, "assets"> & { app: App; page: AppPage; view: string; title?: string; model?: object };

/** A page of an app, with the links to the others. */
export function showAppPage(visit: Visit, { app, page, view, title, model = {}, ...assets }: Showing): Shown {
  const address = addressOf(visit);
  const links = appPages.map((name) => ({
    label: visit.t(`partner.pages.${name || "overview"}`),
    href: name === "" ? address : `${address}/${name}`,
    isCurrent: name === page,
  }));
  const name = title ?? visit.t(`partner.pages.${page || "overview"}`);
  return {
    title: page === "" ? app.name : visit.t("partner.titleOf", { page: name, app: app.name }),
    view,
    page: currentPage(visit),
    ...assets,
    model: { app, address, links, isOperator: visit.permissions.reachesAll, ...model },
  };
}
