import { appNotFound, lockApp, type ClientId } from "../access/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { Db, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { type OutboundPolicy, checkReceiver } from "../platform/outbound/guarded-request.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { checkLimit, makeRun, table } from "../platform/database/sql.ts";
import { setEndpointState } from "./endpoint-state.ts";
import { getEndpointState } from "./find-endpoint.ts";
import type { EventType } from "./payload.ts";
import { addSecret } from "./secret.ts";

type CheckedEndpoint = { url?: string; eventTypes?: EventType[] };

type Complete = { url: string; eventTypes: readonly EventType[] };
type Unchecked = { url?: string | undefined; eventTypes?: readonly EventType[] | undefined };

/** Resolves the host name: not in a transaction. Errors: invalid webhook_url_refused, webhook_without_event_type. */
export async function checkEndpoint(endpoint: Complete, policy: OutboundPolicy): Promise<Required<CheckedEndpoint>>;
export async function checkEndpoint(endpoint: Unchecked, policy: OutboundPolicy): Promise<CheckedEndpoint>;
export async function checkEndpoint({ url, eventTypes }: Unchecked, policy: OutboundPolicy): Promise<CheckedEndpoint> {
  return {
    ...(url !== undefined && { url: await checkUrl(url, policy) }),
    ...(eventTypes !== undefined && { eventTypes: checkTypes(eventTypes) }),
  };
}

// Every event makes a delivery per endpoint: an app with very many would delay all others.
const mostOfApp = 20;

export async function lockEndpointsOf(tx: Transaction, clientId: string): Promise<void> {
  if ((await lockApp(tx, clientId as ClientId)) === null) throw appNotFound();
}

/** Only the result has the secret. Errors: not_found app_not_found; invalid webhook_endpoint_limit. */
export async function registerEndpointIn(
  tx: Transaction,
  endpoint: { clientId: string } & Required<CheckedEndpoint>,
  context: SecretContext,
): Promise<{ id: string; secret: string }> {
  const { clientId } = endpoint;
  const message = `An app has ${mostOfApp} webhook endpoints at most; delete one first`;
  await checkLimit({
    lock: () => lockEndpointsOf(tx, clientId),
    count: () => tx.prisma.webhookEndpoint.count({ where: { clientId, listensUntil: null } }),
    most: mostOfApp,
    full: () => new AppError("invalid", "webhook_endpoint_limit", message),
  });
  return insertEndpoint(tx, endpoint, context);
}

export async function insertEndpoint(
  tx: Transaction,
  endpoint: { clientId: string; listensUntil?: Date } & Required<CheckedEndpoint>,
  { origin, keys }: SecretContext,
): Promise<{ id: string; secret: string }> {
  const { clientId, eventTypes } = endpoint;
  const { at } = origin;
  const id = makeUuid(at);
  await tx.prisma.webhookEndpoint.create({
    data: { id, ...endpoint, stateChangedAt: at, createdAt: at, updatedAt: at },
  });
  const secret = await addSecret(tx, { endpointId: id, keys, now: at });
  const detail = { endpointId: id, eventTypes };
  await recordAudit(tx, { ...origin, action: "webhook_endpoint_registered", clientId, detail });
  return { id, secret };
}

/** Errors: not_found; invalid webhook_url_refused for a listening endpoint. */
export async function updateEndpointIn(tx: Transaction, id: string, data: CheckedEndpoint, origin: Origin) {
  const { clientId, listensUntil } = await getEndpointState(tx, id);
  if (listensUntil !== null && data.url !== undefined)
    throw new AppError("invalid", "webhook_url_refused", "The address cannot be used: a listening endpoint has none.");
  await tx.prisma.webhookEndpoint.updateMany({ where: { id }, data: { ...data, updatedAt: origin.at } });
  const detail = { endpointId: id, changed: Object.keys(data) };
  await recordAudit(tx, { ...origin, action: "webhook_endpoint_changed", clientId, detail });
}

type SecretContext = { origin: Origin; keys: EncryptionKeys };

/** Only the result has the new secret; old ones stay valid for the overlap. Errors: not_found. */
export async function rotateEndpointSecretIn(
  tx: Transaction,
  { id, overlapHours }: { id: string; overlapHours: number },
  { origin, keys }: SecretContext,
): Promise<{ secret: string; oldValidUntil: Date }> {
  const until = new Date(origin.at.getTime() + overlapHours * 3_600_000);
  const { clientId } = await getEndpointState(tx, id);
  await tx.prisma.webhookSecret.updateMany({
    where: { endpointId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: until } }] },
    data: { expiresAt: until },
  });
  const secret = await addSecret(tx, { endpointId: id, keys, now: origin.at });
  const detail = { endpointId: id, overlapHours };
  await recordAudit(tx, { ...origin, action: "webhook_secret_rotated", clientId, detail });
  return { secret, oldValidUntil: until };
}

const requested = {
  ACTIVE: { state: "ACTIVE" },
  PAUSED: { state: "PAUSED", reason: "asked_for", resumeAt: null },
  DISABLED: { state: "DISABLED", reason: "asked_for" },
} as const;

/** A disabled endpoint drops events, a paused one keeps them. Errors: not_found; conflict webhook_endpoint_*. */
export async function changeEndpointState(tx: Transaction, id: string, to: keyof typeof requested, origin: Origin) {
  const { state } = await getEndpointState(tx, id);
  if (to === "PAUSED" && state === "DISABLED") throw disabled();
  if (to === "ACTIVE" && state === "ACTIVE")
    throw new AppError("conflict", "webhook_endpoint_active", "The webhook endpoint is active already");
  await setEndpointState(tx, id, requested[to], origin);
}

const d = table("webhookDelivery", "d");
const a = table("webhookAttempt", "a");

const removeLog = makeRun<{ endpointId: string }>("webhooks.removeLog")`
  WITH gone AS (
    DELETE FROM ${d} WHERE ${d.id} = ANY (ARRAY(
      SELECT ${d.id} FROM ${d} WHERE ${d.endpointId} = ${"endpointId"} LIMIT 5000))
    RETURNING ${d.id}),
  attempts AS (DELETE FROM ${a} USING gone WHERE ${a.deliveryId} = gone.id)
  SELECT FROM gone`;

/** `removeDeliveries` removes the log afterwards; what a crash leaves of it is swept by age. Errors: not_found. */
export async function removeEndpointIn(tx: Transaction, id: string, origin: Origin): Promise<void> {
  const { clientId } = await getEndpointState(tx, id);
  await tx.prisma.webhookEndpoint.deleteMany({ where: { id } });
  await recordAudit(tx, { ...origin, action: "webhook_endpoint_removed", clientId, detail: { endpointId: id } });
}

export async function removeDeliveries({ pool }: Db, endpointIds: readonly string[]): Promise<void> {
  for (const endpointId of endpointIds) while ((await removeLog(pool, { endpointId })) > 0);
}

export const disabled = (): AppError =>
  new AppError("conflict", "webhook_endpoint_disabled", "The webhook endpoint is disabled; resume it first");

export function checkTypes(types: readonly EventType[]): EventType[] {
  if (types.length === 0)
    throw new AppError("invalid", "webhook_without_event_type", "A webhook endpoint needs at least one event type");
  return [...new Set(types)].sort();
}

async function checkUrl(text: string, policy: OutboundPolicy): Promise<string> {
  const refuse = (why: string) => new AppError("invalid", "webhook_url_refused", `The address cannot be used: ${why}`);
  return (await checkReceiver(text, policy, refuse)).href;
}
