import type { ClientId } from "../access/index.ts";
import { recordDifference } from "../events/index.ts";
import { present, type Same } from "../platform/contract-types.ts";
import { storeOf, withPrismaTransaction, type RecordStore, type Transaction } from "../platform/database/db.ts";
import type { Reach } from "../staff/index.ts";
import {
  changeEndpointState,
  checkEndpoint,
  endpointNotFound,
  getEndpointState,
  listEndpoints as list,
  lockEndpoint,
  readEndpoint,
  registerEndpointIn,
  removeDeliveries,
  removeEndpointIn,
  rotateEndpointSecretIn,
  sendTestEventIn,
  updateEndpointIn,
} from "../webhooks/index.ts";
import type { Endpoint, EndpointPosition } from "../webhooks/index.ts";
import { answerRecord, differenceOf, refuseStale, tagOf } from "./change.ts";
import type { AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { readPage } from "./page.ts";
import { appsOf, reachesApp, refuseUnknownApp } from "./reached.ts";

type WebhookEndpoint = Schemas["WebhookEndpoint"];

const endpointsPath = "/admin/v1/webhook-endpoints";
const defaultOverlapHours = 24;

/** Does not compile if an endpoint has a property that the contract lacks. */
export const endpointProperties: Same<keyof WebhookEndpoint, keyof Endpoint> = true;
export const presentEndpoint = (endpoint: Endpoint): WebhookEndpoint =>
  present<WebhookEndpoint>({ ...endpoint, reason: endpoint.reason ?? "none" });

/** Properties that change without a change of the endpoint itself. */
const counts = ["pending", "listensUntil"] as const;
export const withoutCounts = ({ pending: _, listensUntil: _until, ...of }: WebhookEndpoint) => of;

/** Errors: not_found webhook_endpoint_not_found if the caller does not reach the app of the endpoint. */
export async function refuseOtherEndpoint(db: RecordStore, reach: Reach, id: string): Promise<void> {
  const { clientId } = await getEndpointState(db, id);
  if (!reachesApp(reach, clientId as ClientId)) throw endpointNotFound();
}

export const listEndpoints: AdminHandler<"listEndpoints"> = async (deps, request) => {
  const { query, reach } = request;
  const { range, answer } = readPage(deps, request);
  const { app: clientId } = query;
  if (clientId !== undefined) await refuseUnknownApp(deps.db.pool, reach, clientId as ClientId);
  const after = readPosition(range.after);
  const found = await list(deps.db, { clientId, among: appsOf(reach), limit: range.limit, after });
  const positionOf = (of: Endpoint) => JSON.stringify([of.clientId, of.createdAt, of.id]);
  return answer(found, presentEndpoint, positionOf);
};

function readPosition(text: string | undefined): EndpointPosition | undefined {
  if (text === undefined) return undefined;
  const [clientId, createdAt, id] = JSON.parse(text) as [string, string, string];
  return { clientId, createdAt: new Date(createdAt), id };
}

export const getEndpoint: AdminHandler<"getEndpoint"> = async ({ db }, { endpointId, reach }) => {
  const found = await readEndpoint(storeOf(db), endpointId);
  if (!reachesApp(reach, found.clientId as ClientId)) throw endpointNotFound();
  return answerRecord(presentEndpoint(found), counts);
};

/** Records the creation in the audit log. The answer is the only one with the secret. */
export async function answerCreated(
  tx: Transaction,
  made: { id: string; secret: string },
  origin: AdminRequest<"createEndpoint">["origin"],
) {
  const after = withoutCounts(presentEndpoint(await readEndpoint(tx, made.id)));
  await recordDifference(tx, origin, { before: null, after });
  const body = present<Schemas["EndpointSecret"]>({ ...made, oldValidUntil: null });
  return { status: 201 as const, body, headers: { Location: `${endpointsPath}/${made.id}` } };
}

export const createEndpoint: AdminHandler<"createEndpoint"> = async (deps, { body, reach, origin, keep }) => {
  const { clientId } = body;
  await refuseUnknownApp(deps.db.pool, reach, clientId as ClientId);
  const checked = { clientId, ...(await checkEndpoint(body, deps.policy)) };
  return withPrismaTransaction(deps.db, async (tx) => {
    const made = await registerEndpointIn(tx, checked, { origin, keys: deps.webhookKeys });
    return keep(tx, await answerCreated(tx, made, origin));
  });
};

type Request = Pick<AdminRequest<"updateEndpoint" | "deleteEndpoint">, "endpointId" | "headers" | "reach">;

/** Locks and reads an endpoint. Errors: not_found webhook_endpoint_not_found; StaleRecord. */
async function lockForChange(
  tx: Transaction,
  { endpointId, headers, reach }: Request,
  { disables }: { disables: boolean },
): Promise<WebhookEndpoint> {
  await refuseOtherEndpoint(tx, reach, endpointId);
  const before = presentEndpoint(await lockEndpoint(tx, endpointId, { disables }));
  refuseStale(headers, before, counts);
  return before;
}

export const updateEndpoint: AdminHandler<"updateEndpoint"> = async ({ db, policy }, request) => {
  const { endpointId, body, reach, origin } = request;
  const { state, url, eventTypes } = body;
  await refuseOtherEndpoint(db, reach, endpointId);
  const checked = await checkEndpoint({ url, eventTypes }, policy);
  return withPrismaTransaction(db, async (tx) => {
    const before = await lockForChange(tx, request, { disables: state === "DISABLED" });
    if (Object.keys(checked).length > 0) await updateEndpointIn(tx, endpointId, checked, origin);
    if (state !== undefined) await changeEndpointState(tx, endpointId, state, origin);
    const after = presentEndpoint(await readEndpoint(tx, endpointId));
    await recordDifference(tx, origin, differenceOf(withoutCounts(before), withoutCounts(after)));
    return { status: 204, headers: { ETag: tagOf(after, counts) } };
  });
};

export const deleteEndpoint: AdminHandler<"deleteEndpoint"> = async ({ db }, request) => {
  const { endpointId, origin } = request;
  await withPrismaTransaction(db, async (tx) => {
    const before = await lockForChange(tx, request, { disables: false });
    await removeEndpointIn(tx, endpointId, origin);
    await recordDifference(tx, origin, { before: withoutCounts(before), after: null });
  });
  await removeDeliveries(db, [endpointId]);
  return { status: 204 };
};

export const rotateEndpointSecret: AdminHandler<"rotateEndpointSecret"> = async (
  { db, webhookKeys: keys },
  request,
) => {
  const { endpointId, body, reach, origin, keep } = request;
  const id = endpointId;
  const overlapHours = body?.overlapHours ?? defaultOverlapHours;
  return withPrismaTransaction(db, async (tx) => {
    await refuseOtherEndpoint(tx, reach, id);
    await lockEndpoint(tx, id);
    const { secret, oldValidUntil: until } = await rotateEndpointSecretIn(tx, { id, overlapHours }, { origin, keys });
    const oldValidUntil = overlapHours === 0 ? null : until.toISOString();
    await recordDifference(tx, origin, { before: null, after: { oldValidUntil } });
    return keep(tx, { status: 200 as const, body: present<Schemas["EndpointSecret"]>({ id, secret, oldValidUntil }) });
  });
};

export const testEndpoint: AdminHandler<"testEndpoint"> = async ({ db }, { endpointId, body, reach, origin, keep }) => {
  return withPrismaTransaction(db, async (tx) => {
    await refuseOtherEndpoint(tx, reach, endpointId);
    const deliveryId = await sendTestEventIn(tx, { endpointId, eventType: body?.eventType ?? "person" }, origin);
    return keep(tx, { status: 202 as const, body: { deliveryId } });
  });
};
