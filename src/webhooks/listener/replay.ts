import { recordAudit, type Origin } from "../../events/index.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { insert, makeRun, pick, sql, table } from "../../platform/database/sql.ts";
import { disabled } from "../endpoint.ts";
import { deliveryChannel } from "../fan-out.ts";
import { endpointNotFound, getEndpointState } from "../find-endpoint.ts";
import { deliveryNotFound, readDeliveryId } from "../log.ts";
import { joinFirst, lockQueues } from "../queue.ts";

type Copy = { endpointId: string; clientId: string; deliveryId: string | null; last: number; now: Date };

const d = table("webhookDelivery", "d");
const w = table("webhookEndpoint", "w");
const waiting = table("webhookDelivery", "waiting");

// An index gives the newest of each endpoint. A copy has the age of its original, so it is swept at the same time.
// Deliveries that wait here already are not copied: otherwise each request could add a hundred.
const copyDeliveries = makeRun<Copy>(
  ({ endpointId, clientId, deliveryId, last, now }) => sql`
  WITH newest AS (
    SELECT d.* FROM ${w} CROSS JOIN LATERAL (
      SELECT * FROM ${d}
      WHERE ${d.endpointId} = ${w.id} AND (${deliveryId}::bigint IS NULL OR ${d.id} = ${deliveryId}::bigint)
      ORDER BY ${d.id} DESC LIMIT ${last}) d
    WHERE ${w.clientId} = ${clientId} AND NOT EXISTS (
      SELECT FROM ${waiting} WHERE ${waiting.endpointId} = ${endpointId} AND ${waiting.subjectId} = ${d.subjectId}
        AND ${waiting.state} = 'PENDING' AND ${waiting.messageId} = ${d.messageId})),
  source AS (
    SELECT d.*, row_number() OVER (PARTITION BY ${d.subjectId} ORDER BY ${d.id}) = 1 AS leads
    FROM (SELECT * FROM (
      SELECT DISTINCT ON (${d.messageId}) * FROM newest d ORDER BY ${d.messageId}, ${d.id} DESC) d
      ORDER BY ${d.id} DESC LIMIT ${last}) d)
  ${insert(
    "webhookDelivery",
    {
      ...pick(d, "messageId", "eventType", "subjectId", "isTest", "body", "createdAt"),
      endpointId: sql`${endpointId}::uuid`,
      dueAt: sql`CASE WHEN d.leads AND first.id IS NULL THEN ${now}::timestamptz END`,
    },
    sql`FROM source d ${joinFirst({ endpointId: sql`${endpointId}::uuid`, subjectId: d.subjectId })}
      ORDER BY ${d.id}`,
  )}`,
  "webhooks.replay",
);

/** Returns their number. Errors: not_found for others' endpoints and deliveries; conflict if disabled. */
export async function replayIn(
  tx: Transaction,
  { endpointId, deliveryId, last }: { endpointId: string; deliveryId?: string | undefined; last?: number | undefined },
  origin: Origin,
): Promise<number> {
  await lockQueues(tx, "exclusive");
  const { clientId, state, listensUntil } = await getEndpointState(tx, endpointId);
  if (listensUntil === null) throw endpointNotFound();
  if (state === "DISABLED") throw disabled();
  if (deliveryId !== undefined) await refuseOther(tx, clientId, deliveryId);
  const copy = { endpointId, clientId, deliveryId: deliveryId ?? null, last: last ?? 1, now: origin.at };
  const deliveries = await copyDeliveries(tx, copy);
  const detail = { endpointId, deliveries };
  await recordAudit(tx, { ...origin, action: "webhook_deliveries_repeated", clientId, detail });
  await tx.query(`NOTIFY ${deliveryChannel}`);
  return deliveries;
}

async function refuseOther({ prisma }: Transaction, clientId: string, deliveryId: string): Promise<void> {
  const id = readDeliveryId(deliveryId);
  const delivery = await prisma.webhookDelivery.findUnique({ where: { id }, select: { endpointId: true } });
  const where = { id: delivery?.endpointId ?? "", clientId };
  if (delivery === null || (await prisma.webhookEndpoint.count({ where })) === 0) throw deliveryNotFound();
}
