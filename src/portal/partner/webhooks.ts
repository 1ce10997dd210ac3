import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, unwrap, unwrapPage, unwrapRecord, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";
import { eventTypes } from "./options.ts";

type Endpoint = AdminSchemas["WebhookEndpoint"];

const list = "/admin/v1/webhook-endpoints";
const states = ["PENDING", "DELIVERED", "FAILED"] as const;

export const endpointAddress = (request: PageRequest): string =>
  `${addressOf(request)}/webhooks/${request.path.endpointId}`;

export async function listEndpoints(request: PageRequest): Promise<PageView> {
  const asked = { app: request.path.clientId, limit: 50, ...request.cursor };
  const { items, more } = await unwrapPage(request.api.GET(list, { params: { query: asked } }));
  const model = { endpoints: items, more: more(`${addressOf(request)}/webhooks`) };
  return showAppPage(request, { page: "webhooks", view: "endpoints", model });
}

export async function showNewEndpoint(request: PageRequest): Promise<PageView> {
  const chosen = "url" in request.typed ? (request.typed["eventType"] ?? []) : eventTypes;
  const title = request.t("endpoint.new");
  return showAppPage(request, { page: "webhooks", view: "new-endpoint", title, model: { eventTypes, chosen } });
}

export async function showEndpointSecret(
  request: PageRequest,
  { made, title }: { made: AdminSchemas["EndpointSecret"]; title: string },
): Promise<PageView> {
  const model = { made, back: `${addressOf(request)}/webhooks/${made.id}` };
  return showAppPage(request, { page: "webhooks", view: "endpoint-secret", title, model });
}

export const chosenTypes = ({ typed }: PageRequest) => eventTypes.filter((type) => typed["eventType"]?.includes(type));

export async function createEndpoint(request: PageRequest): Promise<PageView> {
  const { api, field, idempotencyKey, t } = request;
  const made = await unwrap(
    api.POST(list, {
      params: { header: { "Idempotency-Key": idempotencyKey } },
      body: { clientId: request.path.clientId, url: field("url"), eventTypes: chosenTypes(request) },
    }),
  );
  return showEndpointSecret(request, { made, title: t("endpoint.made") });
}

/** Errors: Refused webhook_endpoint_not_found for an endpoint of another app. */
export async function readEndpoint(request: PageRequest): Promise<{ record: Endpoint; tag: string }> {
  const found = await unwrapRecord(request.api.GET(`${list}/{endpointId}`, { params: { path: request.path } }));
  if (found.record.clientId !== request.path.clientId) throw new Refused(404, { code: "webhook_endpoint_not_found" });
  return found;
}

export async function showEndpoint(request: PageRequest): Promise<PageView> {
  const { api, query, field, t } = request;
  const state = states.find((one) => one === query("state"));
  const asked = { limit: 50, ...(state && { state }), ...request.cursor };
  const [{ record, tag }, { items, more }, figures] = await Promise.all([
    readEndpoint(request),
    unwrapPage(api.GET(`${list}/{endpointId}/deliveries`, { params: { path: request.path, query: asked } })),
    unwrap(api.GET(`${list}/{endpointId}/figures`, { params: { path: request.path } })),
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
  return showAppPage(request, { page: "webhooks", view: "endpoint", title: t("endpoint.title"), model });
}
