import type { AdminSchemas } from "../../admin/index.ts";
import {
  askedBy,
  drawQrPaths,
  ifMatch,
  postAndRedirect,
  Refused,
  unwrap,
  unwrapPage,
  unwrapRecord,
} from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { ownLoginAddress } from "./connection.ts";

const all = "/admin/v1/upstream-connections";
const wayIn = "/admin/v1/schools/{schoolId}/way-in";

type WayIn = AdminSchemas["WayInInput"];

const readWayIn = ({ field }: PageRequest): WayIn => ({
  linkName: field("linkName").toLowerCase() || null,
  localPasswords: field("localPasswords") === "on",
});

export async function showOverview(request: PageRequest): Promise<PageView> {
  const { api, path, t, may, field } = request;
  const [connections, { record, tag }] = await Promise.all([
    unwrapPage(api.GET(all, { params: { query: { school: path.schoolId, limit: 50 } } })),
    unwrapRecord(api.GET(wayIn, { params: { path } })),
  ]);
  const on = connections.items.filter(({ state }) => state === "ON");
  const isForAll = on.some(({ groupIds }) => groupIds.length === 0);
  const usesPasswords = record.localPasswords || record.emergencyUntil !== null;
  const model = {
    address: ownLoginAddress(request),
    leavesOut: usesPasswords || isForAll ? null : on.length > 0 ? "OTHER_CLASSES" : "EVERYBODY",
    settings: `/admin/schools/${path.schoolId}/settings`,
    connections: connections.items,
    wayIn: field("form") === "way-in" ? { ...record, ...readWayIn(request) } : record,
    tag,
    mayChange: may("createUpstreamConnection"),
  };
  return { title: t("ownLogin.title"), view: "overview", model };
}

export async function createConnection(request: PageRequest): Promise<Redirect> {
  const { api, path, field, idempotencyKey } = request;
  const profile = field("profile") as AdminSchemas["UpstreamProfile"];
  const body = { schoolId: path.schoolId, profile, name: field("name") };
  const made = await unwrap(api.POST(all, { params: { header: { "Idempotency-Key": idempotencyKey } }, body }));
  return { to: `${ownLoginAddress(request)}/${made.id}`, done: "connectionCreated" };
}

export const changeWayIn = postAndRedirect("wayInChanged", ownLoginAddress, (request) =>
  request.api.PUT(wayIn, { params: { path: request.path, header: ifMatch(request) }, body: readWayIn(request) }),
);

export const openEmergency = postAndRedirect("emergencyOpened", ownLoginAddress, ({ api, path }) =>
  api.POST(`${wayIn}/emergency`, { params: { path } }),
);
export const closeEmergency = postAndRedirect("emergencyClosed", ownLoginAddress, ({ api, path }) =>
  api.DELETE(`${wayIn}/emergency`, { params: { path } }),
);

/** The address of the school's sign-in page as a poster. Errors: Refused 404 for a school without one. */
export async function showPoster(request: PageRequest): Promise<PageView> {
  const { api, path, t } = request;
  const [connections, { url }] = await Promise.all([
    unwrapPage(api.GET(all, { params: { query: { school: path.schoolId, limit: 50 } } })),
    unwrap(api.GET(wayIn, { params: { path } })),
  ]);
  if (url === null) throw new Refused(404, {});
  const [code] = await drawQrPaths([url], askedBy(request));
  const names = connections.items.filter(({ state }) => state === "ON").map(({ name }) => name);
  const model = { back: ownLoginAddress(request), url, code, names };
  return { title: t("poster.title"), view: "poster", model };
}

/** `/admin/logins`: the connections of all schools in reach. */
export async function showService(request: PageRequest): Promise<PageView> {
  const { api, t, query, cursor } = request;
  const filter = query("show");
  const filters = {
    ...(filter === "failing" && { failing: true }),
    ...(filter === "expiring" && { "secret-expiring": true }),
  };
  const found = await unwrapPage(api.GET(all, { params: { query: { limit: 50, ...filters, ...cursor } } }));
  const more = found.more("/admin/logins", filter === "" ? {} : { show: filter });
  return { title: t("service.title"), view: "service", model: { connections: found.items, filter, more } };
}
