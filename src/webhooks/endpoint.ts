import { findApp } from "../access/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { withPrismaTransaction, type Db, type PrismaDb, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { checkReceiver } from "../platform/outbound/receiver-address.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { findRows, run, sql, statement, table } from "../platform/database/sql.ts";
import { setEndpointState } from "./endpoint-state.ts";
import { getEndpointState } from "./find-endpoint.ts";
import type { EventType } from "./payload.ts";
import { addSecret } from "./secret.ts";

export type NewEndpoint = { clientId: string; url: string; eventTypes: readonly EventType[] };

/** What may be written of an endpoint, after its check. */
export type CheckedEndpoint = { url?: string; eventTypes?: EventType[] };

type Unchecked = { url?: string | undefined; eventTypes?: readonly EventType[] | undefined };

/**
 * Checks what is to be written of an endpoint. The address is looked up: not for a transaction.
 *
 * Errors: invalid for an address that must not be called, and for no event type.
 */
export async function checkEndpoint(
  wanted: Pick<NewEndpoint, "url" | "eventTypes">,
  policy: OutboundPolicy,
): Promise<Required<CheckedEndpoint>>;
export async function checkEndpoint(wanted: Unchecked, policy: OutboundPolicy): Promise<CheckedEndpoint>;
export async function checkEndpoint({ url, eventTypes }: Unchecked, policy: OutboundPolicy): Promise<CheckedEndpoint> {
  return {
    ...(url !== undefined && { url: await checkUrl(url, policy) }),
    ...(eventTypes !== undefined && { eventTypes: checkTypes(eventTypes) }),
  };
}

/**
 * Registers where an app is notified. The secret is answered here and never again.
 *
 * Errors: not_found for an unknown app; invalid for an address that must not be called, and for no event type.
 */
export async function registerEndpoint(
  db: PrismaDb,
  wanted: NewEndpoint,
  { origin, keys, policy }: { origin: Origin; keys: EncryptionKeys; policy: OutboundPolicy },
): Promise<{ id: string; secret: string }> {
  const checked = { clientId: wanted.clientId, ...(await checkEndpoint(wanted, policy)) };
  return withPrismaTransaction(db, (tx) => registerEndpointIn(tx, checked, { origin, keys }));
}

// Each event makes a delivery for every endpoint of the app: with very many, one app would keep all others waiting.
const mostOfApp = 20;

const app = table("app");
const e = table("webhookEndpoint", "e");
const lockApp = statement<{ clientId: string }>(
  ({ clientId }) => sql`SELECT FROM ${app} WHERE ${app.clientId} = ${clientId} FOR NO KEY UPDATE`,
  "webhooks.lockEndpoints",
);
const countEndpoints = statement<{ clientId: string }>(
  ({ clientId }) => sql`
  SELECT count(*)::int AS count FROM ${e} WHERE ${e.clientId} = ${clientId} AND ${e.listensUntil} IS NULL`,
  "webhooks.countEndpoints",
);

/** Keeps others from making endpoints of an app until the transaction ends, so that they can be counted. */
export async function lockEndpointsOf(tx: Transaction, clientId: string): Promise<void> {
  await run(tx, lockApp, { clientId });
}

const tooMany = (): AppError =>
  new AppError(
    "invalid",
    "webhook_endpoint_limit",
    `An app has ${mostOfApp} webhook endpoints at most; delete one first`,
  );

/**
 * Registers an endpoint that was checked, in a transaction.
 *
 * Errors: not_found for an unknown app; invalid webhook_endpoint_limit.
 */
export async function registerEndpointIn(
  tx: Transaction,
  { clientId, url, eventTypes }: { clientId: string } & Required<CheckedEndpoint>,
  { origin, keys }: { origin: Origin; keys: EncryptionKeys },
): Promise<{ id: string; secret: string }> {
  if ((await findApp(tx, clientId)) === null)
    throw new AppError("not_found", "app_not_found", "There is no app with this client id");
  await lockEndpointsOf(tx, clientId);
  const [found] = await findRows<{ count: number }, { clientId: string }>(tx, countEndpoints, { clientId });
  if (found!.count >= mostOfApp) throw tooMany();
  const id = makeUuid(origin.at);
  const at = origin.at;
  await tx.prisma.webhookEndpoint.create({
    data: { id, clientId, url, eventTypes, stateChangedAt: at, createdAt: at, updatedAt: at },
  });
  const secret = await addSecret(tx, { endpointId: id, keys, now: at });
  const detail = { endpointId: id, eventTypes };
  await recordAudit(tx, { ...origin, action: "webhook_endpoint_registered", clientId, detail });
  return { id, secret };
}

/** Changes address or event types; events that wait go to the new address. Errors: as registering, and not_found. */
export async function updateEndpoint(
  db: PrismaDb,
  wanted: { id: string } & Unchecked,
  { origin, policy }: { origin: Origin; policy: OutboundPolicy },
): Promise<void> {
  const checked = await checkEndpoint(wanted, policy);
  await withPrismaTransaction(db, (tx) => updateEndpointIn(tx, wanted.id, checked, origin));
}

/**
 * Changes what was checked of an endpoint, in a transaction.
 *
 * Errors: not_found; invalid for an address of a listening endpoint.
 */
export async function updateEndpointIn(
  tx: Transaction,
  id: string,
  data: CheckedEndpoint,
  origin: Origin,
): Promise<void> {
  const { clientId, listensUntil } = await getEndpointState(tx, id);
  if (listensUntil !== null && data.url !== undefined)
    throw new AppError("invalid", "webhook_url_refused", "The address cannot be used: a listening endpoint has none.");
  await tx.prisma.webhookEndpoint.updateMany({ where: { id }, data: { ...data, updatedAt: origin.at } });
  const detail = { endpointId: id, changed: Object.keys(data) };
  await recordAudit(tx, { ...origin, action: "webhook_endpoint_changed", clientId, detail });
}

/**
 * Gives an endpoint a new secret, answered here and never again; the old ones stay valid for the overlap.
 *
 * Units:  overlapHours in hours.
 * Errors: not_found.
 */
export const rotateEndpointSecret = (db: PrismaDb, wanted: Rotation, context: SecretContext): Promise<Rotated> =>
  withPrismaTransaction(db, (tx) => rotateEndpointSecretIn(tx, wanted, context));

type Rotation = { id: string; overlapHours: number };
type Rotated = { secret: string; oldValidUntil: Date };
type SecretContext = { origin: Origin; keys: EncryptionKeys };

/** Gives an endpoint a new secret, in a transaction. Units: overlapHours in hours. Errors: not_found. */
export async function rotateEndpointSecretIn(
  tx: Transaction,
  { id, overlapHours }: Rotation,
  { origin, keys }: SecretContext,
): Promise<Rotated> {
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

/** Lets events wait until the endpoint is resumed. Errors: not_found; conflict for a disabled one. */
export async function pauseEndpoint(db: PrismaDb, id: string, origin: Origin): Promise<void> {
  await withPrismaTransaction(db, (tx) => changeEndpointState(tx, id, "PAUSED", origin));
}

/** Drops what waits and what comes until the endpoint is resumed. Errors: not_found. */
export async function disableEndpoint(db: PrismaDb, id: string, origin: Origin): Promise<void> {
  await withPrismaTransaction(db, (tx) => changeEndpointState(tx, id, "DISABLED", origin));
}

/**
 * Makes a paused or disabled endpoint active: what waits is delivered, what was dropped is not.
 *
 * Errors: not_found; conflict for an active one.
 */
export async function resumeEndpoint(db: PrismaDb, id: string, origin: Origin): Promise<void> {
  await withPrismaTransaction(db, (tx) => changeEndpointState(tx, id, "ACTIVE", origin));
}

const asked = {
  ACTIVE: { state: "ACTIVE" },
  PAUSED: { state: "PAUSED", reason: "asked_for", resumeAt: null },
  DISABLED: { state: "DISABLED", reason: "asked_for" },
} as const;

/**
 * Puts an endpoint into a state that was asked for, in a transaction.
 *
 * Errors: not_found; conflict for an active one that is to be active, and a disabled one that is to be paused.
 */
export async function changeEndpointState(
  tx: Transaction,
  id: string,
  to: keyof typeof asked,
  origin: Origin,
): Promise<void> {
  const { state } = await getEndpointState(tx, id);
  if (to === "PAUSED" && state === "DISABLED") throw disabled();
  if (to === "ACTIVE" && state === "ACTIVE")
    throw new AppError("conflict", "webhook_endpoint_active", "The webhook endpoint is active already");
  await setEndpointState(tx, id, asked[to], origin);
}

const d = table("webhookDelivery", "d");
const a = table("webhookAttempt", "a");

const removeLog = statement<{ endpointId: string }>(
  ({ endpointId }) => sql`
  WITH gone AS (
    DELETE FROM ${d} WHERE ${d.id} = ANY (ARRAY(
      SELECT ${d.id} FROM ${d} WHERE ${d.endpointId} = ${endpointId} LIMIT 5000))
    RETURNING ${d.id}),
  attempts AS (DELETE FROM ${a} USING gone WHERE ${a.deliveryId} = gone.id)
  SELECT FROM gone`,
  "webhooks.removeLog",
);

/**
 * Removes an endpoint with its secrets and its log. What a crash leaves of the log goes when it is old.
 *
 * Errors: not_found.
 */
export async function removeEndpoint(db: PrismaDb, id: string, origin: Origin): Promise<void> {
  await withPrismaTransaction(db, (tx) => removeEndpointIn(tx, id, origin));
  await removeDeliveries(db, [id]);
}

/** Removes an endpoint with its secrets, in a transaction; its log is removed afterwards. Errors: not_found. */
export async function removeEndpointIn(tx: Transaction, id: string, origin: Origin): Promise<void> {
  const { clientId } = await getEndpointState(tx, id);
  await tx.prisma.webhookEndpoint.deleteMany({ where: { id } });
  await recordAudit(tx, { ...origin, action: "webhook_endpoint_removed", clientId, detail: { endpointId: id } });
}

/** Removes the log of endpoints that are gone, in batches. */
export async function removeDeliveries({ pool }: Pick<Db, "pool">, endpointIds: readonly string[]): Promise<void> {
  for (const endpointId of endpointIds) while ((await run(pool, removeLog, { endpointId })) > 0);
}

/** The refusal for what a disabled endpoint cannot do. */
export const disabled = (): AppError =>
  new AppError("conflict", "webhook_endpoint_disabled", "The webhook endpoint is disabled; resume it first");

/** Event types in order. Errors: invalid for none. */
export function checkTypes(types: readonly EventType[]): EventType[] {
  if (types.length === 0)
    throw new AppError("invalid", "webhook_without_event_type", "A webhook endpoint needs at least one event type");
  return [...new Set(types)].sort();
}

async function checkUrl(text: string, policy: OutboundPolicy): Promise<string> {
  const refuse = (why: string) => new AppError("invalid", "webhook_url_refused", `The address cannot be used: ${why}`);
  return (await checkReceiver(text, policy, refuse)).href;
}
