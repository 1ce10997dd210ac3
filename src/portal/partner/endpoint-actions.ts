import { Refused, take, takeUnlessDone, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { addressOf } from "./place.ts";
import { chosenTypes, endpointAddress, endpointPath, readEndpoint, showEndpointSecret } from "./webhooks.ts";
import { eventTypes } from "./words.ts";

const endpoint = "/admin/v1/webhook-endpoints/{endpointId}";
const overlaps = [0, 24, 168] as const;

const paramsWithTag = (visit: Visit) => ({
  path: endpointPath(visit),
  header: { "If-Match": visit.field("tag") },
});

export async function changeEndpoint(visit: Visit): Promise<Gone> {
  await readEndpoint(visit);
  const body = { url: visit.field("url"), eventTypes: chosenTypes(visit) };
  await takeUnlessDone(visit.api.PATCH(endpoint, { params: paramsWithTag(visit), body }), body);
  return { to: endpointAddress(visit), done: "endpointChanged" };
}

const states = { ACTIVE: "endpointActive", PAUSED: "endpointPaused", DISABLED: "endpointDisabled" } as const;

export async function setState(visit: Visit): Promise<Gone> {
  await readEndpoint(visit);
  const asked = visit.field("state");
  if (!(asked in states)) throw new Refused(400, { code: "invalid_request" });
  const body = { state: asked as keyof typeof states };
  await takeUnlessDone(visit.api.PATCH(endpoint, { params: paramsWithTag(visit), body }), body);
  return { to: endpointAddress(visit), done: states[body.state] };
}

export async function deleteEndpoint(visit: Visit): Promise<Gone> {
  const to = `${addressOf(visit)}/webhooks`;
  const isGone = (error: unknown) => error instanceof Refused && error.code === "webhook_endpoint_not_found";
  try {
    await readEndpoint(visit);
    await take(visit.api.DELETE(endpoint, { params: { path: endpointPath(visit) } }));
  } catch (error) {
    // The same form came twice: there is nothing left to delete.
    if (!isGone(error)) throw error;
  }
  return { to, done: "endpointDeleted" };
}

export async function rotateEndpointSecret(visit: Visit): Promise<Shown> {
  await readEndpoint(visit);
  const { api, field, once, t } = visit;
  const overlapHours = overlaps.find((one) => String(one) === field("hours")) ?? 24;
  const made = await take(
    api.POST(`${endpoint}/secret`, {
      params: { path: endpointPath(visit), header: { "Idempotency-Key": once } },
      body: { overlapHours },
    }),
  );
  return showEndpointSecret(visit, { made, title: t("endpoint.newSecret") });
}

/** Sends a test event and shows its delivery. */
export async function testEndpoint(visit: Visit): Promise<Gone> {
  await readEndpoint(visit);
  const { api, field, once } = visit;
  const eventType = eventTypes.find((one) => one === field("eventType")) ?? "person";
  const { deliveryId } = await take(
    api.POST(`${endpoint}/test`, {
      params: { path: endpointPath(visit), header: { "Idempotency-Key": once } },
      body: { eventType },
    }),
  );
  return { to: `${endpointAddress(visit)}/deliveries/${deliveryId}`, done: "testSent" };
}

/** Sends what failed since the beginning of a day again. */
export async function redeliverFailed(visit: Visit): Promise<Gone> {
  await readEndpoint(visit);
  const { api, field, times } = visit;
  const since = times.startOf(field("since"));
  if (since === null) throw new Refused(400, { code: "day_missing" });
  const params = { path: endpointPath(visit) };
  const { deliveries } = await take(api.POST(`${endpoint}/redelivery`, { params, body: { since } }));
  return { to: endpointAddress(visit), done: "redeliveredFailed", count: deliveries };
}
