import type { Origin } from "../../src/events/index.ts";
import type { EncryptionKeys } from "../../src/platform/crypto/seal.ts";
import { storeOf, withPrismaTransaction, type PrismaDb } from "../../src/platform/database/db.ts";
import type { OutboundPolicy } from "../../src/platform/outbound/guarded-request.ts";
import {
  changeEndpointState,
  checkEndpoint,
  readEndpoint,
  redeliverIn,
  registerEndpointIn,
  removeDeliveries,
  removeEndpointIn,
  rotateEndpointSecretIn,
  sendTestEventIn,
  updateEndpointIn,
  type EventType,
} from "../../src/webhooks/index.ts";

// Changes of webhooks as the admin API makes them, each in its own transaction.

type NewEndpoint = { clientId: string; url: string; eventTypes: readonly EventType[] };
type Keys = { origin: Origin; keys: EncryptionKeys };

export async function registerEndpoint(
  db: PrismaDb,
  { clientId, ...endpoint }: NewEndpoint,
  { policy, ...context }: Keys & { policy: OutboundPolicy },
): Promise<{ id: string; secret: string }> {
  const checked = { clientId, ...(await checkEndpoint(endpoint, policy)) };
  return withPrismaTransaction(db, (tx) => registerEndpointIn(tx, checked, context));
}

export async function updateEndpoint(
  db: PrismaDb,
  { id, ...update }: { id: string; url?: string; eventTypes?: readonly EventType[] },
  { origin, policy }: { origin: Origin; policy: OutboundPolicy },
): Promise<void> {
  const checked = await checkEndpoint(update, policy);
  await withPrismaTransaction(db, (tx) => updateEndpointIn(tx, id, checked, origin));
}

export const rotateEndpointSecret = (db: PrismaDb, rotation: { id: string; overlapHours: number }, context: Keys) =>
  withPrismaTransaction(db, (tx) => rotateEndpointSecretIn(tx, rotation, context));

const changeState = (to: "ACTIVE" | "PAUSED" | "DISABLED") => (db: PrismaDb, id: string, origin: Origin) =>
  withPrismaTransaction(db, (tx) => changeEndpointState(tx, id, to, origin));

export const pauseEndpoint = changeState("PAUSED");
export const disableEndpoint = changeState("DISABLED");
export const resumeEndpoint = changeState("ACTIVE");

export async function removeEndpoint(db: PrismaDb, id: string, origin: Origin): Promise<void> {
  await withPrismaTransaction(db, (tx) => removeEndpointIn(tx, id, origin));
  await removeDeliveries(db, [id]);
}

export const getEndpoint = (db: PrismaDb, id: string) => readEndpoint(storeOf(db), id);

export const redeliver = (db: PrismaDb, id: string, origin: Origin): Promise<void> =>
  withPrismaTransaction(db, (tx) => redeliverIn(tx, id, origin));

export const sendTestEvent = (
  db: PrismaDb,
  event: { endpointId: string; eventType: EventType },
  origin: Origin,
): Promise<string> => withPrismaTransaction(db, (tx) => sendTestEventIn(tx, event, origin));
