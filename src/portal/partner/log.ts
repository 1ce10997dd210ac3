import type { AdminSchemas } from "../../admin/index.ts";
import { takePage, type Shown, type Visit } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import { addressOf, clientIdOf, readApp, refuseOtherApp, showAppPage } from "./place.ts";

type Line = AdminSchemas["AuditLine"];

const actions: readonly string[] = Object.keys(german.log.action);

/** Who did what to the app; people are not named, their role is. */
export async function listLog(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  const { api, query, t } = visit;
  const [action, cursor] = [actions.find((one) => one === query("action")), query("cursor")];
  const asked = {
    ...{ app: clientIdOf(visit), limit: 50 },
    ...(action !== undefined && { action }),
    ...(cursor !== "" && { cursor }),
  };
  const [app, { items, next }] = await Promise.all([
    readApp(visit),
    takePage(api.GET("/admin/v1/audit", { params: { query: asked } })),
  ]);
  const following = new URLSearchParams({ ...(action !== undefined && { action }), cursor: next ?? "" });
  const model = {
    ...{ actions, action: action ?? "" },
    lines: items.map((line) => ({
      ...line,
      what: nameAction(line, t),
      by: nameActor(line, t),
      changes: compare(line),
    })),
    more: next === null ? null : `${addressOf(visit)}/log?${following.toString()}`,
  };
  return showAppPage(visit, { app, page: "log", view: "log", model });
}

const nameAction = ({ action }: Line, t: Visit["t"]): string =>
  actions.includes(action) ? t(`log.action.${action}`) : action;

function nameActor({ actor, names }: Line, t: Visit["t"]): string {
  if (actor.role !== null) return t(`staffRoles.${actor.role}`);
  return names.actorApp ?? actor.clientId ?? actor.program ?? t("log.somebody");
}

/** The properties that differ. Shape: values as JSON, short. */
function compare({ before, after }: Line): { name: string; before: string; after: string }[] {
  const [old, now] = [before ?? {}, after ?? {}];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .map((name) => ({ name, before: write(old[name]), after: write(now[name]) }))
    .filter((change) => change.before !== change.after);
}

function write(value: unknown): string {
  if (value === undefined || value === null) return "–";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)} …` : text;
}
