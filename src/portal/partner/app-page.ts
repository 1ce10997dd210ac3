import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, unwrap, type PageView, type PageRequest } from "../frame/index.ts";

export type App = AdminSchemas["AdminApp"];

export const addressOf = ({ path }: PageRequest): string => `/partner/apps/${encodeURIComponent(path.clientId)}`;

/** Errors: Refused role_forbids for readers who manage no apps. */
export function refuseOthers({ may }: PageRequest): void {
  if (!may("listApps")) throw new Refused(403, { code: "role_forbids" });
}

/** Errors: Refused app_not_found if the reader does not manage the app. */
export function refuseOtherApp(request: PageRequest): void {
  refuseOthers(request);
  if (request.permissions.ownApps?.includes(request.path.clientId) === false)
    throw new Refused(404, { code: "app_not_found" });
}

export const currentPage = ({ permissions }: PageRequest): "operator_apps" | "partner" =>
  permissions.reachesAll ? "operator_apps" : "partner";

export const readApp = ({ api, path }: PageRequest): Promise<App> =>
  unwrap(api.GET("/admin/v1/apps/{clientId}", { params: { path } }));

const appPages = [
  "",
  "registration",
  "secret",
  "schools",
  "erasures",
  "scopes",
  "agreement",
  "webhooks",
  "ids",
  "sandbox",
  "sign-ons",
  "requests",
  "log",
  "docs",
] as const;
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
  const { app = await readApp(request), page, view, title, model = {}, ...others } = shown;
  const address = addressOf(request);
  const links = appPages.map((name) => ({
    label: request.t(`partner.pages.${name || "overview"}`),
    href: name === "" ? address : `${address}/${name}`,
    isCurrent: name === page,
  }));
  const name = title ?? request.t(`partner.pages.${page || "overview"}`);
  return {
    title: page === "" ? app.name : request.t("partner.titleOf", { page: name, app: app.name }),
    view,
    page: currentPage(request),
    ...others,
    model: { app, address, links, isOperator: request.permissions.reachesAll, ...model },
  };
}
