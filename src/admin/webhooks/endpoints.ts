import type { ClientId } from "../../access/index.ts";
import { recordDifference } from "../../events/index.ts";
import type { Same } from "../../platform/contract-types.ts";
import { storeOf, type Transaction } from "../../platform/database/db.ts";
import * as webhooks from "../../webhooks/index.ts";
import type { Endpoint, EndpointPosition } from "../../webhooks/index.ts";
import { answerRecord, changeRecord, commit, commitCreated, omit } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";
import { appsOf, refuseUnknownApp } from "../reached.ts";

type WebhookEndpoint = Schemas["WebhookEndpoint"];

const defaultOverlapHours = 24;

/** Does not compile if an endpoint has a property that the contract lacks. */
export const endpointProperties: Same<keyof WebhookEndpoint, keyof Endpoint> = true;
export const presentEndpoint = (endpoint: Endpoint): WebhookEndpoint =>
  present("WebhookEndpoint", { ...endpoint, reason: endpoint.reason ?? "none" });

/** Properties that change without a change of the endpoint itself. */
const counts = ["pending", "listensUntil"] as const;
const withoutCounts = (endpoint: WebhookEndpoint): object => omit(endpoint, counts);

export const listEndpoints: AdminHandler<"listEndpoints"> = async (deps, request) => {
  const { query, reach, page } = request;
  const endpoints = await webhooks.listEndpoints(deps.db, {
    clientId: query.app,
    among: appsOf(reach),
    limit: page.range.limit,
    after: positionIn(page.position()),
  });
  return page.answer(endpoints, presentEndpoint, ({ clientId, createdAt, id }) => [clientId, createdAt, id]);
};

const positionIn = (position: [string, string, string] | undefined): EndpointPosition | undefined =>
  position && { clientId: position[0], createdAt: new Date(position[1]), id: position[2] };

export const getEndpoint: AdminHandler<"getEndpoint"> = async ({ db }, { endpointId }) =>
  answerRecord(presentEndpoint(await webhooks.readEndpoint(storeOf(db), endpointId)), counts);

/** The secret, which no other answer has, and what the audit log shows. */
export const presentMade = async (tx: Transaction, made: { id: string; secret: string }) => ({
  body: present("EndpointSecret", { ...made, oldValidUntil: null }),
  location: `/admin/v1/webhook-endpoints/${made.id}`,
  recorded: withoutCounts(presentEndpoint(await webhooks.readEndpoint(tx, made.id))),
});

export const createEndpoint: AdminHandler<"createEndpoint"> = async (deps, request) => {
  const { body, reach, origin } = request;
  const { clientId } = body;
  await refuseUnknownApp(deps.db.pool, reach, clientId as ClientId);
  const checked = { clientId, ...(await webhooks.checkEndpoint(body, deps.policy)) };
  return commitCreated(deps, request, async (tx) =>
    presentMade(tx, await webhooks.registerEndpointIn(tx, checked, { origin, keys: deps.webhookKeys })),
  );
};

/** `locks` are the options of the lock. Errors: not_found webhook_endpoint_not_found; StaleRecord. */
const changeEndpoint = (
  deps: AdminDeps,
  request: Pick<AdminRequest<"updateEndpoint">, "endpointId" | "headers" | "origin" | "keep">,
  work: (tx: Transaction) => Promise<void>,
  { disables = false, ...effect }: { disables?: boolean; effect?: "ends" } = {},
) =>
  changeRecord(deps, request, {
    touch: (tx) => webhooks.lockEndpoint(tx, request.endpointId, { disables }),
    record: async (tx) => presentEndpoint(await webhooks.readEndpoint(tx, request.endpointId)),
    work,
    without: counts,
    recorded: withoutCounts,
    ...effect,
  });

export const updateEndpoint: AdminHandler<"updateEndpoint"> = async (deps, request) => {
  const { endpointId, body, origin } = request;
  const { state, url, eventTypes } = body;
  const checked = await webhooks.checkEndpoint({ url, eventTypes }, deps.policy);
  const work = async (tx: Transaction) => {
    if (Object.keys(checked).length > 0) await webhooks.updateEndpointIn(tx, endpointId, checked, origin);
    if (state !== undefined) await webhooks.changeEndpointState(tx, endpointId, state, origin);
  };
  return changeEndpoint(deps, request, work, { disables: state === "DISABLED" });
};

export const deleteEndpoint: AdminHandler<"deleteEndpoint"> = async (deps, request) => {
  const { endpointId, origin } = request;
  const work = (tx: Transaction) => webhooks.removeEndpointIn(tx, endpointId, origin);
  const answer = await changeEndpoint(deps, request, work, { effect: "ends" });
  await webhooks.removeDeliveries(deps.db, [endpointId]);
  return answer;
};

export const rotateEndpointSecret: AdminHandler<"rotateEndpointSecret"> = (deps, request) =>
  commit(deps, request, async (tx) => {
    const { endpointId: id, body, origin } = request;
    const overlapHours = body?.overlapHours ?? defaultOverlapHours;
    const keys = deps.webhookKeys;
    await webhooks.lockEndpoint(tx, id);
    const { secret, oldValidUntil: until } = await webhooks.rotateEndpointSecretIn(
      tx,
      { id, overlapHours },
      { origin, keys },
    );
    const oldValidUntil = overlapHours === 0 ? null : until.toISOString();
    await recordDifference(tx, origin, { before: null, after: { oldValidUntil } });
    return { status: 200 as const, body: present("EndpointSecret", { id, secret, oldValidUntil }) };
  });

export const testEndpoint: AdminHandler<"testEndpoint"> = (deps, request) =>
  commit(deps, request, async (tx) => {
    const { endpointId, body, origin } = request;
    const deliveryId = await webhooks.sendTestEventIn(
      tx,
      { endpointId, eventType: body?.eventType ?? "person" },
      origin,
    );
    return { status: 202 as const, body: { deliveryId } };
  });
