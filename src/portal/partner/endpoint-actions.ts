import {
  Refused,
  refuseField,
  unwrap,
  unwrapUnlessDone,
  type Redirect,
  type PageView,
  type PageRequest,
} from "../frame/index.ts";
import { addressOf } from "./app-page.ts";
import { chosenTypes, endpointAddress, readEndpoint, showEndpointSecret } from "./webhooks.ts";
import type { eventTypes } from "./options.ts";

const endpoint = "/admin/v1/webhook-endpoints/{endpointId}";

const paramsWithTag = ({ path, field }: PageRequest) => ({ path, header: { "If-Match": field("tag") } });

export async function changeEndpoint(request: PageRequest): Promise<Redirect> {
  await readEndpoint(request);
  const body = { url: request.field("url"), eventTypes: chosenTypes(request) };
  await unwrapUnlessDone(request.api.PATCH(endpoint, { params: paramsWithTag(request), body }), body);
  return { to: endpointAddress(request), done: "endpointChanged" };
}

const states = { ACTIVE: "endpointActive", PAUSED: "endpointPaused", DISABLED: "endpointDisabled" } as const;

export async function setState(request: PageRequest): Promise<Redirect> {
  await readEndpoint(request);
  const asked = request.field("state");
  if (!Object.hasOwn(states, asked)) throw new Refused(400, { code: "invalid_request" });
  const body = { state: asked as keyof typeof states };
  await unwrapUnlessDone(request.api.PATCH(endpoint, { params: paramsWithTag(request), body }), body);
  return { to: endpointAddress(request), done: states[body.state] };
}

export async function deleteEndpoint(request: PageRequest): Promise<Redirect> {
  const to = `${addressOf(request)}/webhooks`;
  const isGone = (error: unknown) => error instanceof Refused && error.code === "webhook_endpoint_not_found";
  try {
    await readEndpoint(request);
    await unwrap(request.api.DELETE(endpoint, { params: { path: request.path } }));
  } catch (error) {
    // The form was sent twice: the endpoint is already deleted.
    if (!isGone(error)) throw error;
  }
  return { to, done: "endpointDeleted" };
}

export async function rotateEndpointSecret(request: PageRequest): Promise<PageView> {
  await readEndpoint(request);
  const { api, field, idempotencyKey, t } = request;
  const made = await unwrap(
    api.POST(`${endpoint}/secret`, {
      params: { path: request.path, header: { "Idempotency-Key": idempotencyKey } },
      body: { overlapHours: Number(field("hours") || 24) },
    }),
  );
  return showEndpointSecret(request, { made, title: t("endpoint.newSecret") });
}

export async function testEndpoint(request: PageRequest): Promise<Redirect> {
  await readEndpoint(request);
  const { api, field, idempotencyKey } = request;
  const { deliveryId } = await unwrap(
    api.POST(`${endpoint}/test`, {
      params: { path: request.path, header: { "Idempotency-Key": idempotencyKey } },
      body: { eventType: (field("eventType") || "person") as (typeof eventTypes)[number] },
    }),
  );
  return { to: `${endpointAddress(request)}/deliveries/${deliveryId}`, done: "testSent" };
}

export async function redeliverFailed(request: PageRequest): Promise<Redirect> {
  await readEndpoint(request);
  const { api, field, times } = request;
  const since = times.startOf(field("since"));
  if (since === null) throw refuseField("since", "day_missing");
  const params = { path: request.path };
  const { deliveries } = await unwrap(api.POST(`${endpoint}/redelivery`, { params, body: { since } }));
  return { to: endpointAddress(request), done: "redeliveredFailed", count: deliveries };
}
