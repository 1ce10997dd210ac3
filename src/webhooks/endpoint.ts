import { findApp } from "../access/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Reach } from "../platform/guarded-request.ts";
import { makeUuid } from "../platform/ids.ts";
import { checkReceiver } from "../platform/receiver-address.ts";
import type { EncryptionKeys } from "../platform/seal.ts";
import { setEndpointState, type Reason } from "./endpoint-state.ts";
import type { EventType } from "./payload.ts";
import { isFirst, isWaiting } from "./queue.ts";
import { addSecret } from "./secret.ts";

export type Endpoint = {
  id: string;
  clientId: string;
  url: string;
  eventTypes: EventType[];
  state: "ACTIVE" | "PAUSED" | "DISABLED";
  reason: Reason | null;
  stateChangedAt: Date;
  /** Of an endpoint paused because it fails: when one event is tried. */
  resumeAt: Date | null;
  failingSince: Date | null;
  /** Deliveries that wait. */
  pending: number;
  createdAt: Date;
};

const selectEndpoint = `
  SELECT w.id, w.client_id AS "clientId", w.url, w.event_types AS "eventTypes", w.state::text, w.reason, w.state_changed_at AS "stateChangedAt",
    w.resume_at AS "resumeAt", w.failing_since AS "failingSince", w.created_at AS "createdAt",
    ((SELECT count(*) FROM webhook_delivery d WHERE d.endpoint_id = w.id AND ${isFirst("d")})
     + (SELECT count(*) FROM webhook_delivery d WHERE d.endpoint_id = w.id AND ${isWaiting("d")}))::int AS pending
  FROM webhook_endpoint w`;

/** The endpoints of an app, or of all. */
export async function listEndpoints(
  db: Queryable,
  { clientId }: { clientId?: string | undefined } = {},
): Promise<Endpoint[]> {
  const { rows } = await db.query<Endpoint>(
    `${selectEndpoint} WHERE $1::text IS NULL OR w.client_id = $1 ORDER BY w.client_id, w.created_at, w.id`,
    [clientId ?? null],
  );
  return rows;
}

/** Errors: not_found. */
export async function getEndpoint(db: Queryable, id: string): Promise<Endpoint> {
  const { rows } = await db.query<Endpoint>(`${selectEndpoint} WHERE w.id = $1`, [id]);
  if (!rows[0])
    throw new AppError("not_found", "webhook_endpoint_not_found", "There is no webhook endpoint with this id");
  return rows[0];
}

export type NewEndpoint = { clientId: string; url: string; eventTypes: readonly EventType[] };

/**
 * Registers where an app wants to be told. The secret is told here and never again.
 *
 * Errors: not_found for an unknown app; invalid for an address that must not be called, and for no event type.
 */
export async function registerEndpoint(
  db: Db,
  wish: NewEndpoint,
  { origin, keys, reach }: { origin: Origin; keys: EncryptionKeys; reach: Reach },
): Promise<{ id: string; secret: string }> {
  const [url, types] = [await checkUrl(wish.url, reach), checkTypes(wish.eventTypes)];
  return withTransaction(db, async (tx) => {
    if ((await findApp(tx, wish.clientId)) === null)
      throw new AppError("not_found", "app_not_found", "There is no app with this client id");
    const id = makeUuid(origin.at);
    await tx.query(
      "INSERT INTO webhook_endpoint (id, client_id, url, event_types, state_changed_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5, $5)",
      [id, wish.clientId, url, types, origin.at],
    );
    const secret = await addSecret(tx, { endpointId: id, keys, now: origin.at });
    await recordAudit(tx, {
      ...origin,
      action: "webhook_endpoint_registered",
      clientId: wish.clientId,
      detail: { endpointId: id, eventTypes: types },
    });
    return { id, secret };
  });
}

/** Changes address or event types; events that wait go to the new address. Errors: as registering. */
export async function updateEndpoint(
  db: Db,
  wish: { id: string; url?: string | undefined; eventTypes?: readonly EventType[] | undefined },
  { origin, reach }: { origin: Origin; reach: Reach },
): Promise<void> {
  const url = wish.url === undefined ? null : await checkUrl(wish.url, reach);
  const types = wish.eventTypes === undefined ? null : checkTypes(wish.eventTypes);
  await withTransaction(db, async (tx) => {
    const { clientId } = await getEndpoint(tx, wish.id);
    await tx.query(
      "UPDATE webhook_endpoint SET url = coalesce($2, url), event_types = coalesce($3, event_types), updated_at = $4 WHERE id = $1",
      [wish.id, url, types, origin.at],
    );
    const changed = [...(url === null ? [] : ["url"]), ...(types === null ? [] : ["eventTypes"])];
    await recordAudit(tx, {
      ...origin,
      action: "webhook_endpoint_changed",
      clientId,
      detail: { endpointId: wish.id, changed },
    });
  });
}

/** Gives an endpoint a new secret, told here and never again; the old ones stay valid for the overlap. */
export async function rotateEndpointSecret(
  db: Db,
  { id, overlapHours }: { id: string; overlapHours: number },
  { origin, keys }: { origin: Origin; keys: EncryptionKeys },
): Promise<{ secret: string; oldValidUntil: Date }> {
  const until = new Date(origin.at.getTime() + overlapHours * 3_600_000);
  return withTransaction(db, async (tx) => {
    const { clientId } = await getEndpoint(tx, id);
    await tx.query(
      "UPDATE webhook_secret SET expires_at = least(coalesce(expires_at, $2), $2) WHERE endpoint_id = $1",
      [id, until],
    );
    const secret = await addSecret(tx, { endpointId: id, keys, now: origin.at });
    await recordAudit(tx, {
      ...origin,
      action: "webhook_secret_rotated",
      clientId,
      detail: { endpointId: id, overlapHours },
    });
    return { secret, oldValidUntil: until };
  });
}

/** Lets events wait until the endpoint is resumed. Errors: conflict for a disabled one. */
export async function pauseEndpoint(db: Db, id: string, origin: Origin): Promise<void> {
  await withTransaction(db, async (tx) => {
    const { state } = await getEndpoint(tx, id);
    if (state === "DISABLED") throw disabled();
    await setEndpointState(tx, id, { state: "PAUSED", reason: "asked_for", resumeAt: null }, origin);
  });
}

/** Drops what waits and whatever comes. */
export async function disableEndpoint(db: Db, id: string, origin: Origin): Promise<void> {
  await withTransaction(db, async (tx) => {
    await getEndpoint(tx, id);
    await setEndpointState(tx, id, { state: "DISABLED", reason: "asked_for" }, origin);
  });
}

/** Makes a paused or disabled endpoint active: what waits is delivered, what was dropped is not. */
export async function resumeEndpoint(db: Db, id: string, origin: Origin): Promise<void> {
  await withTransaction(db, async (tx) => {
    const { state } = await getEndpoint(tx, id);
    if (state === "ACTIVE")
      throw new AppError("conflict", "webhook_endpoint_active", "The webhook endpoint is active already");
    await setEndpointState(tx, id, { state: "ACTIVE" }, origin);
  });
}

const removeLog = `
  WITH gone AS (DELETE FROM webhook_delivery WHERE id = ANY (ARRAY(SELECT id FROM webhook_delivery WHERE endpoint_id = $1 LIMIT 5000)) RETURNING id),
  attempts AS (DELETE FROM webhook_attempt a USING gone WHERE a.delivery_id = gone.id)
  SELECT FROM gone`;

/** Takes an endpoint away with its secrets and its log. What of that is left after a crash goes when it is old. */
export async function removeEndpoint(db: Db, id: string, origin: Origin): Promise<void> {
  await withTransaction(db, async (tx) => {
    const { clientId } = await getEndpoint(tx, id);
    await tx.query("DELETE FROM webhook_endpoint WHERE id = $1", [id]);
    await recordAudit(tx, { ...origin, action: "webhook_endpoint_removed", clientId, detail: { endpointId: id } });
  });
  await removeDeliveries(db, [id]);
}

/** Takes away the log of endpoints that are gone, in batches. */
export async function removeDeliveries(db: Pick<Db, "pool">, endpointIds: readonly string[]): Promise<void> {
  for (const id of endpointIds)
    while ((await db.pool.query({ name: "webhooks.removeLog", text: removeLog, values: [id] })).rowCount);
}

export const disabled = (): AppError =>
  new AppError("conflict", "webhook_endpoint_disabled", "The webhook endpoint is disabled; resume it first");

function checkTypes(types: readonly EventType[]): EventType[] {
  if (types.length === 0)
    throw new AppError("invalid", "webhook_without_event_type", "A webhook endpoint needs at least one event type");
  return [...new Set(types)].sort();
}

async function checkUrl(text: string, reach: Reach): Promise<string> {
  const url = await checkReceiver(
    text,
    reach,
    (why) => new AppError("invalid", "webhook_url_refused", `The address cannot be used: ${why}`),
  );
  return url.href;
}
