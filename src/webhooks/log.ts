import { recordAudit, type Origin } from "../events/index.ts";
import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import { disabled, getEndpoint } from "./endpoint.ts";
import { deliveryChannel } from "./fan-out.ts";
import { makeTestPayload, type EventType } from "./payload.ts";
import { joinFirst, lockQueues } from "./queue.ts";

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
  /** Of the first that its subject has pending; those behind it have none. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
};

export type Attempt = {
  number: number;
  at: Date;
  durationMs: number;
  status: number | null;
  error: string | null;
  /** The first bytes of the answer's body, as text. */ answer: string | null;
};

const columns = `id::text, message_id AS "messageId", endpoint_id AS "endpointId", event_type AS "eventType", is_test AS "isTest", body, state::text, attempts,
  due_at AS "nextAttemptAt", created_at AS "createdAt", finished_at AS "finishedAt"`;

/** The deliveries of an endpoint, the newest first. */
export async function listDeliveries(
  db: Queryable,
  of: { endpointId: string; state?: DeliveryState | undefined; limit: number },
): Promise<Delivery[]> {
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
  return {
    ...delivery,
    log: rows.map(({ answer, ...rest }) => ({ ...rest, answer: answer === null ? null : answer.toString() })),
  };
}

/** Delivers once more, with all its tries and the same webhook-id. Errors: not_found, conflict while it waits anyway or its endpoint is disabled. */
export async function redeliver(db: Db, id: string, origin: Origin): Promise<void> {
  const { endpointId, state } = await findDelivery(db.pool, id);
  if (state === "PENDING")
    throw new AppError("conflict", "webhook_delivery_pending", "The delivery waits to be sent already");
  await repeat(db, { endpointId, ids: [id] }, origin);
}

const mostRepeated = 1000;
const findFailed = `
  SELECT id::text FROM webhook_delivery WHERE endpoint_id = $1 AND state = 'FAILED' AND created_at >= $2 AND id > $3 ORDER BY id LIMIT ${mostRepeated}`;

/** Delivers everything once more that failed and was made since; answers how many. Errors: not_found, conflict for a disabled endpoint. */
export async function redeliverFailed(
  db: Db,
  { endpointId, since }: { endpointId: string; since: Date },
  origin: Origin,
): Promise<number> {
  let repeated = 0;
  for (let after = "0", isMore = true; isMore;) {
    const { rows } = await db.pool.query<{ id: string }>(findFailed, [endpointId, since, after]);
    repeated += await repeat(db, { endpointId, ids: rows.map(({ id }) => id) }, origin);
    isMore = rows.length === mostRepeated;
    after = rows.at(-1)?.id ?? after;
  }
  return repeated;
}

/** Sends an endpoint an event that tells of no change. Errors: not_found, conflict for a disabled endpoint. */
export async function sendTestEvent(
  db: Db,
  { endpointId, eventType }: { endpointId: string; eventType: EventType },
  origin: Origin,
): Promise<string> {
  return withTransaction(db, async (tx) => {
    const { clientId } = await getUsableEndpoint(tx, endpointId);
    const subjectId = makeUuid(origin.at);
    const { rows } = await tx.query<{ id: string }>(
      `INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, is_test, body, due_at, created_at)
       VALUES ($1, $2, $3, $4, true, $5, $6, $6) RETURNING id::text`,
      [makeUuid(origin.at), endpointId, eventType, subjectId, makeTestPayload(eventType, subjectId), origin.at],
    );
    await recordAudit(tx, {
      ...origin,
      action: "webhook_test_sent",
      clientId,
      detail: { endpointId, deliveryId: rows[0]!.id },
    });
    await tx.query(`NOTIFY ${deliveryChannel}`);
    return rows[0]!.id;
  });
}

const repeatDeliveries = `
  UPDATE webhook_delivery d SET state = 'PENDING', due_at = CASE WHEN asked.leads AND first.id IS NULL THEN $2::timestamptz END, attempts_spent = attempts, finished_at = NULL
  FROM (
    SELECT id, endpoint_id, subject_id, row_number() OVER (PARTITION BY subject_id ORDER BY id) = 1 AS leads
    FROM webhook_delivery WHERE id = ANY ($1) AND state <> 'PENDING') asked
  ${joinFirst("asked")}
  WHERE d.id = asked.id`;

async function repeat(
  db: Db,
  { endpointId, ids }: { endpointId: string; ids: readonly string[] },
  origin: Origin,
): Promise<number> {
  return withTransaction(db, async (tx) => {
    await lockQueues(tx, "exclusive");
    const { clientId } = await getUsableEndpoint(tx, endpointId);
    const { rowCount } = await tx.query(repeatDeliveries, [ids, origin.at]);
    await recordAudit(tx, {
      ...origin,
      action: "webhook_deliveries_repeated",
      clientId,
      detail: { endpointId, deliveries: rowCount ?? 0 },
    });
    await tx.query(`NOTIFY ${deliveryChannel}`);
    return rowCount ?? 0;
  });
}

async function getUsableEndpoint(tx: Queryable, id: string) {
  const endpoint = await getEndpoint(tx, id);
  if (endpoint.state === "DISABLED") throw disabled();
  return endpoint;
}

async function findDelivery(db: Queryable, id: string): Promise<Delivery> {
  const { rows } = /^\d{1,18}$/.test(id)
    ? await db.query<Delivery>(`SELECT ${columns} FROM webhook_delivery WHERE id = $1`, [id])
    : { rows: [] };
  if (!rows[0])
    throw new AppError("not_found", "webhook_delivery_not_found", "There is no webhook delivery with this number");
  return rows[0];
}
