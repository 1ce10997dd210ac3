import { recordAudit, type Origin } from "../events/index.ts";
import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import { disabled, getEndpoint } from "./endpoint.ts";
import { deliveryChannel } from "./fan-out.ts";
import { makeTestPayload, type EventType } from "./payload.ts";

export type DeliveryState = "PENDING" | "DELIVERED" | "FAILED";

export type Delivery = {
  id: string;
  messageId: string;
  endpointId: string;
  eventType: EventType;
  isTest: boolean;
  body: string;
  state: DeliveryState;
  attempts: number;
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
};

export type Attempt = { number: number; at: Date; durationMs: number; status: number | null; error: string | null; /** The first bytes of the answer's body, as text. */ answer: string | null };

const columns = `id::text, message_id AS "messageId", endpoint_id AS "endpointId", event_type AS "eventType", is_test AS "isTest", body, state::text, attempts,
  CASE WHEN state = 'PENDING' THEN next_attempt_at END AS "nextAttemptAt", created_at AS "createdAt", finished_at AS "finishedAt"`;

/** The deliveries of an endpoint, the newest first. */
export async function listDeliveries(db: Queryable, of: { endpointId: string; state?: DeliveryState | undefined; limit: number }): Promise<Delivery[]> {
  await getEndpoint(db, of.endpointId);
  const { rows } = await db.query<Delivery>(
    `SELECT ${columns} FROM webhook_delivery WHERE endpoint_id = $1 AND ($2::text IS NULL OR state::text = $2) ORDER BY id DESC LIMIT $3`,
    [of.endpointId, of.state ?? null, of.limit],
  );
  return rows;
}

/** One delivery with all its attempts. Errors: not_found. */
export async function getDelivery(db: Queryable, id: string): Promise<Delivery & { log: Attempt[] }> {
  const delivery = await findDelivery(db, id);
  const { rows } = await db.query<Omit<Attempt, "answer"> & { answer: Buffer | null }>(
    `SELECT number, at, duration_ms AS "durationMs", status, error, answer FROM webhook_attempt WHERE delivery_id = $1 ORDER BY number`,
    [id],
  );
  return { ...delivery, log: rows.map(({ answer, ...rest }) => ({ ...rest, answer: answer === null ? null : answer.toString() })) };
}

/** Delivers once more, with all its tries and the same webhook-id. Errors: not_found, conflict while it waits anyway or its endpoint is disabled. */
export async function redeliver(db: Db, id: string, origin: Origin): Promise<void> {
  await withTransaction(db, async (tx) => {
    const { endpointId, state } = await findDelivery(tx, id);
    if (state === "PENDING") throw new AppError("conflict", "webhook_delivery_pending", "The delivery waits to be sent already");
    await repeat(tx, { endpointId, condition: "id = $3", value: id }, origin);
  });
}

/** Delivers everything once more that failed and was made since; answers how many. Errors: not_found, conflict for a disabled endpoint. */
export async function redeliverFailed(db: Db, { endpointId, since }: { endpointId: string; since: Date }, origin: Origin): Promise<number> {
  return withTransaction(db, (tx) => repeat(tx, { endpointId, condition: "state = 'FAILED' AND created_at >= $3", value: since }, origin));
}

/** Sends an endpoint an event that tells of no change. Errors: not_found, conflict for a disabled endpoint. */
export async function sendTestEvent(db: Db, { endpointId, eventType }: { endpointId: string; eventType: EventType }, origin: Origin): Promise<string> {
  return withTransaction(db, async (tx) => {
    const { clientId } = await getUsableEndpoint(tx, endpointId);
    const subjectId = makeUuid(origin.at);
    const { rows } = await tx.query<{ id: string }>(
      `INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, is_test, body, next_attempt_at, created_at)
       VALUES ($1, $2, $3, $4, true, $5, $6, $6) RETURNING id::text`,
      [makeUuid(origin.at), endpointId, eventType, subjectId, makeTestPayload(eventType, subjectId), origin.at],
    );
    await recordAudit(tx, { ...origin, action: "webhook_test_sent", clientId, detail: { endpointId, deliveryId: rows[0]!.id } });
    await tx.query(`NOTIFY ${deliveryChannel}`);
    return rows[0]!.id;
  });
}

type Repeat = { endpointId: string; condition: string; value: unknown };

async function repeat(tx: Queryable, { endpointId, condition, value }: Repeat, origin: Origin): Promise<number> {
  const { clientId } = await getUsableEndpoint(tx, endpointId);
  const { rowCount } = await tx.query(
    `UPDATE webhook_delivery SET state = 'PENDING', attempts_spent = attempts, next_attempt_at = $2, finished_at = NULL
     WHERE endpoint_id = $1 AND state <> 'PENDING' AND ${condition}`,
    [endpointId, origin.at, value],
  );
  await recordAudit(tx, { ...origin, action: "webhook_deliveries_repeated", clientId, detail: { endpointId, deliveries: rowCount ?? 0 } });
  await tx.query(`NOTIFY ${deliveryChannel}`);
  return rowCount ?? 0;
}

async function getUsableEndpoint(tx: Queryable, id: string) {
  const endpoint = await getEndpoint(tx, id);
  if (endpoint.state === "DISABLED") throw disabled();
  return endpoint;
}

async function findDelivery(db: Queryable, id: string): Promise<Delivery> {
  const { rows } = /^\d{1,18}$/.test(id) ? await db.query<Delivery>(`SELECT ${columns} FROM webhook_delivery WHERE id = $1`, [id]) : { rows: [] };
  if (!rows[0]) throw new AppError("not_found", "webhook_delivery_not_found", "There is no webhook delivery with this number");
  return rows[0];
}
