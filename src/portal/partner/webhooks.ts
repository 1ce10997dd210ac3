import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, take, takePage, takeRecord, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, clientIdOf, readApp, refuseOtherApp, showAppPage } from "./place.ts";
import { eventTypes } from "./words.ts";

export type Endpoint = AdminSchemas["WebhookEndpoint"];

const list = "/admin/v1/webhook-endpoints";
const states = ["PENDING", "DELIVERED", "FAILED"] as const;

export const endpointPath = ({ part }: Visit) => ({ endpointId: part("endpointId") });
export const endpointAddress = (visit: Visit): string => `${addressOf(visit)}/webhooks/${visit.part("endpointId")}`;

export async function listEndpoints(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  const cursor = visit.query("cursor");
  const asked = { app: clientIdOf(visit), limit: 50, ...(cursor !== "" && { cursor }) };
  const [app, { items, next }] = await Promise.all([
    readApp(visit),
    takePage(visit.api.GET(list, { params: { query: asked } })),
  ]);
  const more =
    next === null ? null : `${addressOf(visit)}/webhooks?${new URLSearchParams({ cursor: next }).toString()}`;
  return showAppPage(visit, { app, page: "webhooks", view: "endpoints", model: { endpoints: items, more } });
}

export async function showNewEndpoint(visit: Visit): Promise<Shown> {
  const chosen = "url" in visit.typed ? (visit.typed["eventType"] ?? []) : eventTypes;
  return showAppPage(visit, {
    app: await readApp(visit),
    page: "webhooks",
    view: "new-endpoint",
    title: visit.t("endpoint.new"),
    model: { eventTypes, chosen },
  });
}

/** The secret of an endpoint, on the page that answers, and nowhere else. */
export async function showEndpointSecret(
  visit: Visit,
  { made, title }: { made: AdminSchemas["EndpointSecret"]; title: string },
): Promise<Shown> {
  const back = `${addressOf(visit)}/webhooks/${made.id}`;
  return showAppPage(visit, {
    app: await readApp(visit),
    page: "webhooks",
    view: "endpoint-secret",
    title,
    model: { made, back },
  });
}

export const chosenTypes = ({ typed }: Visit) => eventTypes.filter((type) => typed["eventType"]?.includes(type));

export async function createEndpoint(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  const { api, field, once, t } = visit;
  const made = await take(
    api.POST(list, {
      params: { header: { "Idempotency-Key": once } },
      body: { clientId: clientIdOf(visit), url: field("url"), eventTypes: chosenTypes(visit) },
    }),
  );
  return showEndpointSecret(visit, { made, title: t("endpoint.made") });
}

/** Errors: Refused webhook_endpoint_not_found for an endpoint of another app. */
export async function readEndpoint(visit: Visit): Promise<{ record: Endpoint; tag: string }> {
  refuseOtherApp(visit);
  const call = visit.api.GET(`${list}/{endpointId}`, { params: { path: endpointPath(visit) } });
  const found = await takeRecord(call);
  if (found.record.clientId !== clientIdOf(visit)) throw new Refused(404, { code: "webhook_endpoint_not_found" });
  return found;
}

/** An endpoint with its deliveries, the last one first. */
export async function showEndpoint(visit: Visit): Promise<Shown> {
  const { api, query, field, t } = visit;
  const [state, cursor] = [states.find((one) => one === query("state")), query("cursor")];
  const asked = { limit: 50, ...(state && { state }), ...(cursor !== "" && { cursor }) };
  const [app, { record, tag }, { items, next }, figures] = await Promise.all([
    readApp(visit),
    readEndpoint(visit),
    takePage(api.GET(`${list}/{endpointId}/deliveries`, { params: { path: endpointPath(visit), query: asked } })),
    take(api.GET(`${list}/{endpointId}/figures`, { params: { path: endpointPath(visit) } })),
  ]);
  const here = endpointAddress(visit);
  const following = new URLSearchParams({ ...(state && { state }), cursor: next ?? "" });
  const isTyped = field("form") === "endpoint" && visit.refused?.code !== "precondition_failed";
  const model = {
    endpoint: record,
    tag,
    here,
    figures,
    deliveries: items,
    states,
    state: state ?? "",
    eventTypes,
    shown: isTyped ? { url: field("url"), eventTypes: chosenTypes(visit) } : record,
    more: next === null ? null : `${here}?${following.toString()}`,
  };
  return showAppPage(visit, { app, page: "webhooks", view: "endpoint", title: t("endpoint.title"), model });
}
