import { findApp } from "../access/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { withPrismaTransaction, type Db, type PrismaDb } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { OutboundPolicy } from "../platform/guarded-request.ts";
import { makeUuid } from "../platform/ids.ts";
import { checkReceiver } from "../platform/receiver-address.ts";
import type { EncryptionKeys } from "../platform/seal.ts";
import { run, sql, statement, table } from "../platform/sql.ts";
import { setEndpointState } from "./endpoint-state.ts";
import { getEndpointState } from "./find-endpoint.ts";
import type { EventType } from "./payload.ts";
import { addSecret } from "./secret.ts";

export type NewEndpoint = { clientId: string; url: string; eventTypes: readonly EventType[] };

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
  const [url, eventTypes] = [await checkUrl(wanted.url, policy), checkTypes(wanted.eventTypes)];
  const { clientId } = wanted;
  return withPrismaTransaction(db, async (tx) => {
    if ((await findApp(tx, clientId)) === null)
      throw new AppError("not_found", "app_not_found", "There is no app with this client id");
    const id = makeUuid(origin.at);
    const at = origin.at;
    await tx.prisma.webhookEndpoint.create({
      data: { id, clientId, url, eventTypes, stateChangedAt: at, createdAt: at, updatedAt: at },
    });
    const secret = await addSecret(tx, { endpointId: id, keys, now: at });
    const detail = { endpointId: id, eventTypes };
    await recordAudit(tx, { ...origin, action: "webhook_endpoint_registered", clientId, detail });
    return { id, secret };
  });
}

/** Changes address or event types; events that wait go to the new address. Errors: as registering, and not_found. */
export async function updateEndpoint(
  db: PrismaDb,
  wanted: { id: string; url?: string | undefined; eventTypes?: readonly EventType[] | undefined },
  { origin, policy }: { origin: Origin; policy: OutboundPolicy },
): Promise<void> {
  const { id } = wanted;
  const data = {
    ...(wanted.url !== undefined && { url: await checkUrl(wanted.url, policy) }),
    ...(wanted.eventTypes !== undefined && { eventTypes: checkTypes(wanted.eventTypes) }),
  };
  await withPrismaTransaction(db, async (tx) => {
    const { clientId } = await getEndpointState(tx, id);
    await tx.prisma.webhookEndpoint.updateMany({ where: { id }, data: { ...data, updatedAt: origin.at } });
    const detail = { endpointId: id, changed: Object.keys(data) };
    await recordAudit(tx, { ...origin, action: "webhook_endpoint_changed", clientId, detail });
  });
}

/**
 * Gives an endpoint a new secret, answered here and never again; the old ones stay valid for the overlap.
 *
 * Units:  overlapHours in hours.
 * Errors: not_found.
 */
export async function rotateEndpointSecret(
  db: PrismaDb,
  { id, overlapHours }: { id: string; overlapHours: number },
  { origin, keys }: { origin: Origin; keys: EncryptionKeys },
): Promise<{ secret: string; oldValidUntil: Date }> {
  const until = new Date(origin.at.getTime() + overlapHours * 3_600_000);
  return withPrismaTransaction(db, async (tx) => {
    const { clientId } = await getEndpointState(tx, id);
    await tx.prisma.webhookSecret.updateMany({
      where: { endpointId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: until } }] },
      data: { expiresAt: until },
    });
    const secret = await addSecret(tx, { endpointId: id, keys, now: origin.at });
    const detail = { endpointId: id, overlapHours };
    await recordAudit(tx, { ...origin, action: "webhook_secret_rotated", clientId, detail });
    return { secret, oldValidUntil: until };
  });
}

/** Lets events wait until the endpoint is resumed. Errors: not_found; conflict for a disabled one. */
export async function pauseEndpoint(db: PrismaDb, id: string, origin: Origin): Promise<void> {
  await withPrismaTransaction(db, async (tx) => {
    const { state } = await getEndpointState(tx, id);
    if (state === "DISABLED") throw disabled();
    await setEndpointState(tx, id, { state: "PAUSED", reason: "asked_for", resumeAt: null }, origin);
  });
}

/** Drops what waits and what comes until the endpoint is resumed. Errors: not_found. */
export async function disableEndpoint(db: PrismaDb, id: string, origin: Origin): Promise<void> {
  await withPrismaTransaction(db, async (tx) => {
    await getEndpointState(tx, id);
    await setEndpointState(tx, id, { state: "DISABLED", reason: "asked_for" }, origin);
  });
}

/**
 * Makes a paused or disabled endpoint active: what waits is delivered, what was dropped is not.
 *
 * Errors: not_found; conflict for an active one.
 */
export async function resumeEndpoint(db: PrismaDb, id: string, origin: Origin): Promise<void> {
  await withPrismaTransaction(db, async (tx) => {
    const { state } = await getEndpointState(tx, id);
    if (state === "ACTIVE")
      throw new AppError("conflict", "webhook_endpoint_active", "The webhook endpoint is active already");
    await setEndpointState(tx, id, { state: "ACTIVE" }, origin);
  });
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
  await withPrismaTransaction(db, async (tx) => {
    const { clientId } = await getEndpointState(tx, id);
    await tx.prisma.webhookEndpoint.deleteMany({ where: { id } });
    await recordAudit(tx, { ...origin, action: "webhook_endpoint_removed", clientId, detail: { endpointId: id } });
  });
  await removeDeliveries(db, [id]);
}

/** Removes the log of endpoints that are gone, in batches. */
export async function removeDeliveries({ pool }: Pick<Db, "pool">, endpointIds: readonly string[]): Promise<void> {
  for (const endpointId of endpointIds) while ((await run(pool, removeLog, { endpointId })) > 0);
}

/** The refusal for what a disabled endpoint cannot do. */
export const disabled = (): AppError =>
  new AppError("conflict", "webhook_endpoint_disabled", "The webhook endpoint is disabled; resume it first");

function checkTypes(types: readonly EventType[]): EventType[] {
  if (types.length === 0)
    throw new AppError("invalid", "webhook_without_event_type", "A webhook endpoint needs at least one event type");
  return [...new Set(types)].sort();
}

async function checkUrl(text: string, policy: OutboundPolicy): Promise<string> {
  const refuse = (why: string) => new AppError("invalid", "webhook_url_refused", `The address cannot be used: ${why}`);
  return (await checkReceiver(text, policy, refuse)).href;
}
