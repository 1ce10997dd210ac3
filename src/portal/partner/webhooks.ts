import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, unwrap, unwrapPage, unwrapRecord, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, clientIdOf, readApp, showAppPage } from "./app-page.ts";
import { eventTypes } from "./options.ts";

type Endpoint = AdminSchemas["WebhookEndpoint"];

const list = "/admin/v1/webhook-endpoints";
const states = ["PENDING", "DELIVERED", "FAILED"] as const;

export const endpointPath = ({ param }: PageRequest) => ({ endpointId: param("endpointId") });
export const endpointAddress = (request: PageRequest): string =>
  `${addressOf(request)}/webhooks/${request.param("endpointId")}`;

export async function listEndpoints(request: PageRequest): Promise<PageView> {
  const asked = { app: clientIdOf(request), limit: 50, ...request.cursor };
  const [app, { items, more }] = await Promise.all([
    readApp(request),
    unwrapPage(request.api.GET(list, { params: { query: asked } })),
  ]);
  const model = { endpoints: items, more: more(`${addressOf(request)}/webhooks`) };
  return showAppPage(request, { app, page: "webhooks", view: "endpoints", model });
}

export async function showNewEndpoint(request: PageRequest): Promise<PageView> {
  const chosen = "url" in request.typed ? (request.typed["eventType"] ?? []) : eventTypes;
  return showAppPage(request, {
    app: await readApp(request),
    page: "webhooks",
    view: "new-endpoint",
    title: request.t("endpoint.new"),
    model: { eventTypes, chosen },
  });
}

export async function showEndpointSecret(
  request: PageRequest,
  { made, title }: { made: AdminSchemas["EndpointSecret"]; title: string },
): Promise<PageView> {
  const back = `${addressOf(request)}/webhooks/${made.id}`;
  return showAppPage(request, {
    app: await readApp(request),
    page: "webhooks",
    view: "endpoint-secret",
    title,
    model: { made, back },
  });
}

export const chosenTypes = ({ typed }: PageRequest) => eventTypes.filter((type) => typed["eventType"]?.includes(type));

export async function createEndpoint(request: PageRequest): Promise<PageView> {
  const { api, field, idempotencyKey, t } = request;
  const made = await unwrap(
    api.POST(list, {
      params: { header: { "Idempotency-Key": idempotencyKey } },
      body: { clientId: clientIdOf(request), url: field("url"), eventTypes: chosenTypes(request) },
    }),
  );
  return showEndpointSecret(request, { made, title: t("endpoint.made") });
}

/** Errors: Refused webhook_endpoint_not_found for an endpoint of another app. */
export async function readEndpoint(request: PageRequest): Promise<{ record: Endpoint; tag: string }> {
  const call = request.api.GET(`${list}/{endpointId}`, { params: { path: endpointPath(request) } });
  const found = await unwrapRecord(call);
  if (found.record.clientId !== clientIdOf(request)) throw new Refused(404, { code: "webhook_endpoint_not_found" });
  return found;
}

export async function showEndpoint(request: PageRequest): Promise<PageView> {
  const { api, query, field, t } = request;
  const state = states.find((one) => one === query("state"));
  const asked = { limit: 50, ...(state && { state }), ...request.cursor };
  const [app, { record, tag }, { items, more }, figures] = await Promise.all([
    readApp(request),
    readEndpoint(request),
    unwrapPage(api.GET(`${list}/{endpointId}/deliveries`, { params: { path: endpointPath(request), query: asked } })),
    unwrap(api.GET(`${list}/{endpointId}/figures`, { params: { path: endpointPath(request) } })),
  ]);
  const here = endpointAddress(request);
  const isTyped = field("form") === "endpoint" && request.refused?.code !== "precondition_failed";
  const model = {
    endpoint: record,
    tag,
    here,
    figures,
    deliveries: items,
    states,
    state: state ?? "",
    eventTypes,
    shown: isTyped ? { url: field("url"), eventTypes: chosenTypes(request) } : record,
    more: more(here, state && { state }),
  };
  return showAppPage(request, { app, page: "webhooks", view: "endpoint", title: t("endpoint.title"), model });
}
