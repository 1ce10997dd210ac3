import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, askedBy, drawQrPaths, readForm, Refused, type PageRequest, type Redirect } from "../frame/index.ts";

export const base = "/admin/schools/:schoolId/own-login";

export function readWayIn(request: PageRequest): AdminSchemas["WayInInput"] {
  const read = readForm(request, "putWayIn", ["linkName", "localPasswords"]);
  return { ...read, linkName: read.linkName?.toLowerCase() ?? null };
}

const listConnections = ({ call, path }: PageRequest) =>
  call("listUpstreamConnections", { query: { school: path.schoolId, limit: 50 } });

export async function showOverview(request: PageRequest) {
  const { getRecord, t, field } = request;
  const [connections, { record, tag }] = await Promise.all([listConnections(request), getRecord("getWayIn")]);
  const on = connections.filter(({ state }) => state === "ON");
  const isForAll = on.some(({ groupIds }) => groupIds.length === 0);
  const usesPasswords = record.localPasswords || record.emergencyUntil !== null;
  return makePage("overview", t("words.ownLogin"), {
    leavesOut: usesPasswords || isForAll ? null : on.length > 0 ? "OTHER_CLASSES" : "EVERYBODY",
    connections,
    wayIn: field("form") === "way-in" ? { ...record, ...readWayIn(request) } : record,
    tag,
  });
}

export async function createConnection(request: PageRequest): Promise<Redirect> {
  const { call, at, path } = request;
  const body = { ...readForm(request, "createUpstreamConnection", ["profile", "name"]), schoolId: path.schoolId };
  const { id } = await call("createUpstreamConnection", { body });
  return { to: `${at(base)}/${id}`, done: "connectionCreated" };
}

/** The address of the school's sign-in page as a poster. Errors: Refused 404 for a school without one. */
export async function showPoster(request: PageRequest) {
  const { call, at, t } = request;
  const [connections, { url }] = await Promise.all([listConnections(request), call("getWayIn")]);
  if (url === null) throw new Refused(404, {});
  const [code] = await drawQrPaths([url], askedBy(request));
  const names = connections.filter(({ state }) => state === "ON").map(({ name }) => name);
  return makePage("poster", t("poster.title"), { back: at(base), url, code, names });
}

/** `/admin/logins`: the connections of all schools in reach. */
export async function showService({ list, t, query }: PageRequest) {
  const filter = query("show");
  const filters = { failing: filter === "failing" || null, "secret-expiring": filter === "expiring" || null };
  const { items, more } = await list("listUpstreamConnections", { query: filters });
  return makePage("service", t("service.title"), { connections: items, filter, more });
}
