import type { Prisma } from "../../generated/prisma/client.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb, type RecordStore, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { fields, makeFind, makeRun, sql, table, update } from "../platform/database/sql.ts";
import { disabled } from "./endpoint.ts";
import { deliveryChannel } from "./fan-out.ts";
import { getEndpointState } from "./find-endpoint.ts";
import { makeTestPayload, type EventType } from "./payload.ts";
import { joinFirst, lockQueues } from "./queue.ts";

export type DeliveryState = "PENDING" | "DELIVERED" | "FAILED";

export type Attempt = Omit<Prisma.WebhookAttemptModel, "deliveryId" | "answer"> & { answer: string | null };

const hidden = { subjectId: true, attemptsSpent: true, subjectFails: true, traceparent: true } as const;

type Row = Omit<Prisma.WebhookDeliveryModel, keyof typeof hidden>;
export type Delivery = Omit<Row, "id" | "eventType" | "dueAt"> & {
  id: string;
  eventType: EventType;
  nextAttemptAt: Date | null;
};

const present = ({ dueAt, ...row }: Row): Delivery => ({
  ...row,
  id: String(row.id),
  eventType: row.eventType as EventType,
  nextAttemptAt: dueAt,
});

type DeliveryFilter = {
  endpointId: string;
  state?: DeliveryState | undefined;
  limit: number;
  after?: string | undefined;
};

export async function listDeliveries(db: RecordStore, { endpointId, state, limit, after }: DeliveryFilter) {
  await getEndpointState(db, endpointId);
  const rows = await db.prisma.webhookDelivery.findMany({
    where: {
      endpointId,
      ...(state !== undefined && { state }),
      ...(after !== undefined && { id: { lt: BigInt(after) } }),
    },
    orderBy: { id: "desc" },
    take: limit,
    omit: hidden,
  });
  return rows.map(present);
}

export async function getDelivery(db: RecordStore, id: string): Promise<Delivery & { log: Attempt[] }> {
  const delivery = await findDelivery(db, id);
  const attempts = await db.prisma.webhookAttempt.findMany({
    where: { deliveryId: BigInt(id) },
    orderBy: { number: "asc" },
    select: { number: true, at: true, durationMs: true, status: true, error: true, answer: true },
  });
  const text = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString());
  return { ...delivery, log: attempts.map((attempt) => ({ ...attempt, answer: text(attempt.answer) })) };
}

/** Starts a new series of tries under the same webhook-id. Errors: not_found; conflict if pending or disabled. */
export async function redeliverIn(tx: Transaction, id: string, origin: Origin): Promise<void> {
  await lockQueues(tx, "exclusive");
  const { endpointId, state } = await findDelivery(tx, id);
  if (state === "PENDING")
    throw new AppError("conflict", "webhook_delivery_pending", "The delivery waits to be sent already");
  await repeatIn(tx, { endpointId, ids: [id] }, origin);
}

const mostRepeated = 1000;

/** Redelivers what failed and was created since a time; returns the number. Errors: not_found; conflict if disabled. */
export async function redeliverFailed(
  db: PrismaDb,
  { endpointId, since }: { endpointId: string; since: Date },
  origin: Origin,
): Promise<number> {
  let repeated = 0;
  for (let after = 0n, isMore = true; isMore;) {
    const rows = await db.prisma.webhookDelivery.findMany({
      where: { endpointId, state: "FAILED", createdAt: { gte: since }, id: { gt: after } },
      orderBy: { id: "asc" },
      take: mostRepeated,
      select: { id: true },
    });
    const ids = rows.map(({ id }) => String(id));
    repeated += await withPrismaTransaction(db, (tx) => repeatIn(tx, { endpointId, ids }, origin));
    isMore = rows.length === mostRepeated;
    after = rows.at(-1)?.id ?? after;
  }
  return repeated;
}

/** Sends an event that no change caused; returns the delivery's id. Errors: not_found; conflict if disabled. */
export async function sendTestEventIn(
  tx: Transaction,
  { endpointId, eventType }: { endpointId: string; eventType: EventType },
  origin: Origin,
): Promise<string> {
  const clientId = await getUsableOwner(tx, endpointId);
  const [messageId, subjectId] = [makeUuid(origin.at), makeUuid(origin.at)];
  const { id } = await tx.prisma.webhookDelivery.create({
    data: {
      messageId,
      endpointId,
      eventType,
      subjectId,
      isTest: true,
      body: makeTestPayload(eventType, subjectId),
      dueAt: origin.at,
      createdAt: origin.at,
    },
    select: { id: true },
  });
  const detail = { endpointId, deliveryId: String(id) };
  await recordAudit(tx, { ...origin, action: "webhook_test_sent", clientId, detail });
  await tx.query(`NOTIFY ${deliveryChannel}`);
  return String(id);
}

const d = table("webhookDelivery", "d");
const askedDelivery = table("webhookDelivery", "asked");

const repeatDeliveries = makeRun<{ ids: readonly string[]; now: Date }>(
  ({ ids, now }) => sql`
  ${update("webhookDelivery", "d", {
    state: sql`'PENDING'`,
    dueAt: sql`CASE WHEN asked.leads AND first.id IS NULL THEN ${now}::timestamptz END`,
    attemptsSpent: d.attempts,
    subjectFails: sql`false`,
    finishedAt: sql`NULL`,
  })}
  FROM (
    SELECT ${askedDelivery.id}, ${askedDelivery.endpointId}, ${askedDelivery.subjectId},
      row_number() OVER (PARTITION BY ${askedDelivery.subjectId} ORDER BY ${askedDelivery.id}) = 1 AS leads
    FROM ${askedDelivery} WHERE ${askedDelivery.id} = ANY (${ids}) AND ${askedDelivery.state} <> 'PENDING') asked
  ${joinFirst(askedDelivery)}
  WHERE ${d.id} = ${askedDelivery.id}`,
);

type Repetition = { endpointId: string; ids: readonly string[] };

async function repeatIn(tx: Transaction, { endpointId, ids }: Repetition, origin: Origin): Promise<number> {
  await lockQueues(tx, "exclusive");
  const clientId = await getUsableOwner(tx, endpointId);
  const deliveries = await repeatDeliveries(tx, { ids, now: origin.at });
  const detail = { endpointId, deliveries };
  await recordAudit(tx, { ...origin, action: "webhook_deliveries_repeated", clientId, detail });
  await tx.query(`NOTIFY ${deliveryChannel}`);
  return deliveries;
}

async function getUsableOwner(tx: RecordStore, endpointId: string): Promise<string> {
  const { clientId, state } = await getEndpointState(tx, endpointId);
  if (state === "DISABLED") throw disabled();
  return clientId;
}

export function readDeliveryId(id: string): bigint {
  if (!/^\d{1,18}$/.test(id)) throw deliveryNotFound();
  return BigInt(id);
}

async function findDelivery({ prisma }: RecordStore, id: string): Promise<Delivery> {
  const row = await prisma.webhookDelivery.findUnique({ where: { id: readDeliveryId(id) }, omit: hidden });
  if (row === null) throw deliveryNotFound();
  return present(row);
}

export const deliveryNotFound = (): AppError =>
  new AppError("not_found", "webhook_delivery_not_found", "There is no webhook delivery with this number");

export type DeliveryOfSubject = { at: Date; finishedAt: Date | null; state: DeliveryState; clientId: string | null };

const w = table("webhookEndpoint", "w");

export const listDeliveriesOf = makeFind<DeliveryOfSubject, { subjectId: string; limit: number }>()`
  SELECT ${fields<DeliveryOfSubject>({
    at: d.createdAt,
    finishedAt: d.finishedAt,
    state: d.state,
    clientId: sql`(SELECT ${w.clientId} FROM ${w} WHERE ${w.id} = ${d.endpointId})`,
  })}
  FROM ${d} WHERE ${d.subjectId} = ${"subjectId"} AND NOT ${d.isTest} ORDER BY ${d.id} DESC LIMIT ${"limit"}`;
