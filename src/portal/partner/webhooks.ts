import type { AdminSchemas } from "../../admin/index.ts";
import { enumOf } from "../../platform/contract-texts.ts";
import { actOn, readForm, Refused, refuseField, requireFields } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { app, showAppPage } from "./app-page.ts";
import { explainSignature } from "../../../clients/tools/src/signature/index.ts";

type Endpoint = AdminSchemas["WebhookEndpoint"];

export const list = `${app}/webhooks`;
export const endpoint = `${list}/:endpointId`;

const states = ["PENDING", "DELIVERED", "FAILED"] as const;
export const fields = ["url", ["eventType", "eventTypes"]] as const;

export async function listEndpoints(request: PageRequest): Promise<PageView> {
  const { items, more } = await request.list("listEndpoints", { query: { app: request.path.clientId } });
  return showAppPage(request, "webhooks", { endpoints: items, more });
}

export async function showNewEndpoint(request: PageRequest): Promise<PageView> {
  const model = { eventTypes: enumOf("createEndpoint", "eventTypes") };
  return showAppPage(request, "webhooks", model, { title: request.t("endpoint.new"), view: "new-endpoint" });
}

async function showSecret(request: PageRequest, made: AdminSchemas["EndpointSecret"], title: string) {
  const model = { made, back: `${request.at(list)}/${made.id}` };
  return showAppPage(request, "webhooks", model, { title, view: "endpoint-secret" });
}

export async function createEndpoint(request: PageRequest): Promise<PageView> {
  const { call, path, t } = request;
  const body = { ...readForm(request, "createEndpoint", fields), clientId: path.clientId };
  return showSecret(request, await call("createEndpoint", { body }), t("endpoint.made"));
}

/** Errors: Refused webhook_endpoint_not_found for an endpoint of another app. */
export async function readEndpoint({ getRecord, path }: PageRequest): Promise<{ record: Endpoint; tag: string }> {
  const read = await getRecord("getEndpoint");
  if (read.record.clientId !== path.clientId) throw new Refused(404, { code: "webhook_endpoint_not_found" });
  return read;
}

export async function showEndpoint(request: PageRequest): Promise<PageView> {
  const { call, list: readList, query, t } = request;
  const state = states.find((one) => one === query("state"));
  const [{ record, tag }, { items, more }, figures] = await Promise.all([
    readEndpoint(request),
    readList("listDeliveries", { query: { state } }),
    call("getEndpointFigures"),
  ]);
  const model = {
    endpoint: record,
    tag,
    figures,
    deliveries: items,
    states,
    state: state ?? "",
    more,
  };
  const dropsTyped = request.refused?.code === "precondition_failed";
  return showAppPage(request, "webhooks", model, { view: "endpoint", title: t("endpoint.title"), dropsTyped });
}

const doneOfState = { ACTIVE: "endpointActive", PAUSED: "endpointPaused", DISABLED: "endpointDisabled" } as const;

export async function setState(request: PageRequest): Promise<Redirect> {
  const state = request.field("state") as keyof typeof doneOfState;
  if (!Object.hasOwn(doneOfState, state)) throw new Refused(400, { code: "invalid_request" });
  return actOn("updateEndpoint", doneOfState[state], { check: readEndpoint, fields: () => ({ state }) })(request);
}

export async function rotateEndpointSecret(request: PageRequest): Promise<PageView> {
  await readEndpoint(request);
  const body = { overlapHours: Number(request.field("hours") || 24) };
  return showSecret(request, await request.call("rotateEndpointSecret", { body }), request.t("endpoint.newSecret"));
}

export async function testEndpoint(request: PageRequest): Promise<Redirect> {
  await readEndpoint(request);
  const eventType = (request.field("eventType") || "person") as Endpoint["eventTypes"][number];
  const { deliveryId } = await request.call("testEndpoint", { body: { eventType } });
  return { to: `${request.at(endpoint)}/deliveries/${deliveryId}`, done: "testSent" };
}

export async function redeliverFailed(request: PageRequest): Promise<Redirect> {
  await readEndpoint(request);
  const since = request.times.startOf(request.field("since"));
  if (since === null) throw refuseField("since", "day_missing");
  const { deliveries } = await request.call("redeliverFailed", { body: { since } });
  return { to: request.at(endpoint), done: "redeliveredFailed", count: deliveries };
}

/** Errors: Refused webhook_delivery_not_found for a delivery of another endpoint; those of `readEndpoint`. */
export async function readDelivery(request: PageRequest) {
  const [{ record }, read] = await Promise.all([readEndpoint(request), request.call("getDelivery")]);
  if (read.delivery.endpointId !== record.id) throw new Refused(404, { code: "webhook_delivery_not_found" });
  return { endpoint: record, ...read };
}

export async function showDelivery(request: PageRequest): Promise<PageView> {
  const read = await readDelivery(request);
  const model = { ...read, body: indentJson(read.delivery.body) };
  return showAppPage(request, "webhooks", model, { title: request.t("delivery.title"), view: "delivery" });
}

/** Leaves other texts unchanged. */
export function indentJson(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

const headerFields = {
  ep: "x-ep-signature-sha256",
  standard: "webhook-signature",
  id: "webhook-id",
  timestamp: "webhook-timestamp",
} as const;

/** Explains why a signature does not match. The secret is never stored or shown. */
export async function debugSignature(request: PageRequest): Promise<PageView> {
  requireFields(request, "secret");
  const { field, typed, now, locale } = request;
  const filled = Object.entries(headerFields).filter(([name]) => field(name) !== "");
  // A form turns every line end into CRLF.
  const body = Buffer.from((typed["body"]?.[0] ?? "").replaceAll("\r\n", "\n"));
  const headers = Object.fromEntries(filled.map(([name, header]) => [header, field(name)]));
  const report = explainSignature({ headers, body, secret: field("secret"), computed: field("computed"), now });
  return showSignature(request, { ...report, bytes: report.bodyBytes.toLocaleString(locale) });
}

export async function showSignature(request: PageRequest, report: object | null = null): Promise<PageView> {
  const fields = Object.keys(headerFields);
  const model = { report, fields, headerOf: headerFields, body: request.typed["body"]?.[0] ?? "" };
  return showAppPage(request, "webhooks", model, { view: "signature", title: request.t("signature.title") });
}
