import type { Db } from "../../platform/database/db.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import { fields, makeFind, sql, table, update, asynchronous } from "../../platform/database/sql.ts";
import { dueFields, type Due } from "../delivery/due.ts";
import { secretsAt, workingState } from "../delivery/lease.ts";
import { endpointNotFound } from "../find-endpoint.ts";
import { isDue } from "../queue.ts";
import { openSecrets, type SealedSecret } from "../secret.ts";
import { makeHeaders } from "../signature.ts";
import { listensUntil } from "./endpoint.ts";

type Listening = { state: "ACTIVE" | "PAUSED" | "DISABLED"; secrets: SealedSecret[] };

const w = table("webhookEndpoint", "w");
const d = table("webhookDelivery", "d");
const next = table("webhookDelivery", "due");

type Extension = { endpointId: string; now: Date; until: Date };

const keepListening = makeFind<Listening, Extension>(
  ({ endpointId, now, until }) => sql`
  ${update("webhookEndpoint", "w", { listensUntil: until })}
  WHERE ${w.id} = ${endpointId} AND ${w.listensUntil} > ${now} AND ${asynchronous}
  RETURNING ${fields<Listening>({ state: workingState(w), secrets: secretsAt(now) })}`,
  "webhooks.keepListening",
);

// Concurrent callers get different deliveries. A fetched delivery stays the first of its queue while it is under way.
const takeDue = makeFind<Due, Extension & { most: number }>(
  ({ endpointId, now, until, most }) => sql`
  ${update("webhookDelivery", "d", { dueAt: until })}
  FROM (
    SELECT ${next.id} FROM ${next} WHERE ${next.endpointId} = ${endpointId} AND ${isDue(next, now)}
    ORDER BY ${next.dueAt}, ${next.id} LIMIT ${most} FOR UPDATE SKIP LOCKED) taken
  WHERE ${d.id} = taken.id AND ${asynchronous}
  RETURNING ${dueFields(d)}`,
  "webhooks.takeDue",
);

export type SignedDelivery = Due & { headers: Record<string, string> };

const underWaySeconds = 60;

/** Extends the listening endpoint and fetches its due deliveries. Errors: not_found if it ended or has an address. */
export async function takeDeliveries(
  { pool }: Db,
  { endpointId, most, now, keys }: { endpointId: string; most: number; now: Date; keys: EncryptionKeys },
): Promise<{ deliveries: SignedDelivery[]; listensUntil: Date }> {
  const until = listensUntil(now);
  const [listening] = await keepListening(pool, { endpointId, now, until });
  if (listening === undefined) throw endpointNotFound();
  const secrets = openSecrets(keys, listening.secrets);
  if (listening.state !== "ACTIVE" || secrets.length === 0) return { deliveries: [], listensUntil: until };
  const due = await takeDue(pool, { endpointId, now, until: new Date(now.getTime() + underWaySeconds * 1000), most });
  const deliveries = due
    .sort((one, other) => Number(BigInt(one.id) - BigInt(other.id)))
    .map((delivery) => ({ ...delivery, headers: makeHeaders(delivery, secrets, now) }));
  return { deliveries, listensUntil: until };
}
