import type { AdminSchemas } from "../../admin/index.ts";
import { compareLine, unwrapPage, type Difference, type PageView, type PageRequest } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import { addressOf, showAppPage } from "./app-page.ts";

type Line = AdminSchemas["AuditLine"];

const actions: readonly string[] = Object.keys(german.log.action);

/** Changes of the app with the role of the person, without names. */
export async function listLog(request: PageRequest): Promise<PageView> {
  const { api, query, t } = request;
  const action = actions.find((one) => one === query("action"));
  const asked = {
    app: request.path.clientId,
    limit: 50,
    ...(action !== undefined && { action }),
    ...request.cursor,
  };
  const { items, more } = await unwrapPage(api.GET("/admin/v1/audit", { params: { query: asked } }));
  const model = {
    actions,
    action: action ?? "",
    lines: items.map((line) => ({
      ...line,
      what: nameAction(line, t),
      by: nameActor(line, t),
      changes: differencesOf(line, t),
    })),
    more: more(`${addressOf(request)}/log`, action === undefined ? {} : { action }),
  };
  return showAppPage(request, { page: "log", view: "log", model });
}

const nameAction = ({ action }: Line, t: PageRequest["t"]): string =>
  actions.includes(action) ? t(`log.action.${action}`) : action;

function nameActor({ actor, names }: Line, t: PageRequest["t"]): string {
  if (actor.role !== null) return t(`staffRoles.${actor.role}`);
  return names.actorApp ?? actor.clientId ?? actor.program ?? t("log.somebody");
}

const longest = 300;
const shorten = (text: string): string => (text.length > longest ? `${text.slice(0, longest)} …` : text);

const differencesOf = (line: Line, t: PageRequest["t"]): Difference[] =>
  compareLine(line, { t, names: new Map() }).map(({ name, before, after }) => ({
    name,
    before: shorten(before),
    after: shorten(after),
  }));
