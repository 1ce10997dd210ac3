import type { Db, Queryable } from "../../platform/database/db.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import { fields, findRows, sql, statement, table, update } from "../../platform/database/sql.ts";
import { dueFields, type Due } from "../delivery/due.ts";
import { asynchronous, secretsAt } from "../delivery/lease.ts";
import { endpointNotFound } from "../find-endpoint.ts";
import { isDue } from "../queue.ts";
import { openSecret, type SealedSecret } from "../secret.ts";
import { makeHeaders } from "../signature.ts";
import { listensUntil, takenUntil } from "./listening.ts";

type Listening = { state: "ACTIVE" | "PAUSED" | "DISABLED"; secrets: SealedSecret[] };

const w = table("webhookEndpoint", "w");
const d = table("webhookDelivery", "d");
const due = table("webhookDelivery", "due");

const keepListening = statement<{ endpointId: string; now: Date; until: Date }>(
  ({ endpointId, now, until }) => sql`
  ${update("webhookEndpoint", "w", { listensUntil: until })}
  WHERE ${w.id} = ${endpointId} AND ${w.listensUntil} > ${now} AND ${asynchronous}
  RETURNING ${fields<Listening>({ state: sql`${w.state}::text`, secrets: secretsAt(now) })}`,
  "webhooks.keepListening",
);

type Taking = { endpointId: string; now: Date; until: Date; most: number };

// Who fetches at the same time gets others. One that is due stays the first of its queue while it is under way.
const takeDue = statement<Taking>(
  ({ endpointId, now, until, most }) => sql`
  ${update("webhookDelivery", "d", { dueAt: until })}
  FROM (
    SELECT ${due.id} FROM ${due} WHERE ${due.endpointId} = ${endpointId} AND ${isDue(due, now)}
    ORDER BY ${due.dueAt}, ${due.id} LIMIT ${most} FOR UPDATE SKIP LOCKED) taken
  WHERE ${d.id} = taken.id AND ${asynchronous}
  RETURNING ${dueFields(d)}`,
  "webhooks.takeDue",
);

/** A delivery as it is to be sent. */
export type Taken = Due & { headers: Record<string, string> };

type Asked = { endpointId: string; most: number; now: Date; keys: EncryptionKeys };

/**
 * Fetches what is due at a listening endpoint and says when the endpoint ends.
 *
 * Errors: not_found for an endpoint that is unknown, has ended or has an address.
 */
export async function takeDeliveries(
  { pool }: Pick<Db, "pool">,
  { endpointId, most, now, keys }: Asked,
): Promise<{ deliveries: Taken[]; listensUntil: Date }> {
  const until = listensUntil(now);
  const listening = await extend(pool, { endpointId, now, until });
  const secrets = listening.secrets.map((sealed) => openSecret(keys, sealed)).filter((secret) => secret !== null);
  if (listening.state !== "ACTIVE" || secrets.length === 0) return { deliveries: [], listensUntil: until };
  const found = await findRows<Due, Taking>(pool, takeDue, { endpointId, now, until: takenUntil(now), most });
  const deliveries = found
    .sort((one, other) => Number(BigInt(one.id) - BigInt(other.id)))
    .map((delivery) => ({ ...delivery, headers: makeHeaders(delivery, secrets, now) }));
  return { deliveries, listensUntil: until };
}

async function extend(db: Queryable, given: { endpointId: string; now: Date; until: Date }): Promise<Listening> {
  const [found] = await findRows<Listening, typeof given>(db, keepListening, given);
  if (found === undefined) throw endpointNotFound();
  return found;
}
