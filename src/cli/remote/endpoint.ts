import type { Attempt, Delivery, Endpoint } from "../../webhooks/index.ts";
import { bodyOf, dateOf, everyEntry, firstEntries, given, once, type Remote, type Schemas } from "../admin-api.ts";

/** Shape: fields in the order in which they are printed. */
const endpointOf = (record: Schemas["WebhookEndpoint"]): Endpoint => {
  const { id, clientId, url, eventTypes, state, reason, stateChangedAt, resumeAt, failingSince, createdAt } = record;
  const listensUntil = dateOf(record.listensUntil);
  return {
    id,
    clientId,
    url,
    eventTypes,
    state,
    reason,
    stateChangedAt: new Date(stateChangedAt),
    resumeAt: dateOf(resumeAt),
    failingSince: dateOf(failingSince),
    listensUntil,
    createdAt: new Date(createdAt),
    pending: record.pending,
  };
};

const deliveryOf = (record: Schemas["Delivery"]): Delivery => {
  const { deliveryId, messageId, endpointId, eventType, isTest, body, state, attempts } = record;
  return {
    id: deliveryId,
    messageId,
    endpointId,
    eventType,
    isTest,
    body,
    state,
    attempts,
    createdAt: new Date(record.createdAt),
    finishedAt: dateOf(record.finishedAt),
    nextAttemptAt: dateOf(record.nextAttemptAt),
  };
};

const oneEndpoint = "/admin/v1/webhook-endpoints/{endpointId}";
const oneDelivery = "/admin/v1/webhook-deliveries/{deliveryId}";
const of = (endpointId: string) => ({ params: { path: { endpointId } } });

export async function listEndpoints({ api }: Remote, clientId: string | undefined): Promise<Endpoint[]> {
  const query = given({ app: clientId });
  const endpoints: Endpoint[] = [];
  for await (const endpoint of everyEntry((page) =>
    api.GET("/admin/v1/webhook-endpoints", { params: { query: { ...query, ...page } } }),
  ))
    endpoints.push(endpointOf(endpoint));
  return endpoints;
}

export const getEndpoint = async ({ api }: Remote, id: string): Promise<Endpoint> =>
  endpointOf(await bodyOf(api.GET(oneEndpoint, of(id))));

type New = Schemas["NewWebhookEndpoint"];

export async function registerEndpoint({ api }: Remote, body: New): Promise<{ id: string; secret: string }> {
  const { id, secret } = await bodyOf(api.POST("/admin/v1/webhook-endpoints", { params: once(), body }));
  return { id, secret };
}

type Update = { [Name in keyof Schemas["WebhookEndpointUpdate"]]?: Schemas["WebhookEndpointUpdate"][Name] | undefined };

export async function updateEndpoint(remote: Remote, id: string, update: Update): Promise<void> {
  const body = given(update) as Schemas["WebhookEndpointUpdate"];
  if (Object.keys(body).length === 0) await getEndpoint(remote, id);
  else await remote.api.PATCH(oneEndpoint, { ...of(id), body });
}

export const pauseEndpoint = (remote: Remote, id: string) => updateEndpoint(remote, id, { state: "PAUSED" });
export const resumeEndpoint = (remote: Remote, id: string) => updateEndpoint(remote, id, { state: "ACTIVE" });
export const disableEndpoint = (remote: Remote, id: string) => updateEndpoint(remote, id, { state: "DISABLED" });

export async function removeEndpoint({ api }: Remote, id: string): Promise<void> {
  await api.DELETE(oneEndpoint, of(id));
}

export async function rotateSecret({ api }: Remote, id: string, overlapHours: number) {
  const params = { ...of(id).params, ...once() };
  const made = await bodyOf(api.POST(`${oneEndpoint}/secret`, { params, body: { overlapHours } }));
  return { secret: made.secret, oldValidUntil: new Date(made.oldValidUntil!) };
}

type Asked = { endpointId: string; state: Delivery["state"] | undefined; limit: number };

export async function listDeliveries({ api }: Remote, { endpointId, state, limit }: Asked): Promise<Delivery[]> {
  const { path } = of(endpointId).params;
  const read = (page: object) =>
    api.GET(`${oneEndpoint}/deliveries`, { params: { path, query: { ...given({ state }), ...page } } });
  return (await firstEntries(read, { limit })).map(deliveryOf);
}

export async function getDelivery({ api }: Remote, deliveryId: string): Promise<Delivery & { log: Attempt[] }> {
  const { delivery, log } = await bodyOf(api.GET(oneDelivery, { params: { path: { deliveryId } } }));
  return { ...deliveryOf(delivery), log: log.map((attempt) => ({ ...attempt, at: new Date(attempt.at) })) };
}

export async function redeliver({ api }: Remote, deliveryId: string): Promise<void> {
  await api.POST(`${oneDelivery}/redelivery`, { params: { path: { deliveryId } } });
}

/** Answers how many were queued again. */
export async function redeliverFailed({ api }: Remote, id: string, since: Date): Promise<number> {
  const body = { since: since.toISOString() };
  return (await bodyOf(api.POST(`${oneEndpoint}/redelivery`, { ...of(id), body }))).deliveries;
}

/** Answers the id of the delivery. */
export async function sendTestEvent({ api }: Remote, id: string, eventType: Delivery["eventType"]): Promise<string> {
  const params = { ...of(id).params, ...once() };
  return (await bodyOf(api.POST(`${oneEndpoint}/test`, { params, body: { eventType } }))).deliveryId;
}
