import type { RecordStore } from "../platform/db.ts";
import type { DeliveryState } from "./log.ts";

/** A delivery about a subject: when it was made and when it ended, and for which app. */
export type DeliveryOfSubject = { at: Date; finishedAt: Date | null; state: DeliveryState; clientId: string | null };

/** The deliveries about one subject, the newest first. No index begins with the subject. */
export async function listDeliveriesOf(
  { prisma }: RecordStore,
  { subjectId, limit }: { subjectId: string; limit: number },
): Promise<DeliveryOfSubject[]> {
  const found = await prisma.webhookDelivery.findMany({
    where: { subjectId },
    select: { createdAt: true, finishedAt: true, state: true, endpointId: true },
    orderBy: { id: "desc" },
    take: limit,
  });
  const ids = [...new Set(found.map(({ endpointId }) => endpointId))];
  const endpoints = await prisma.webhookEndpoint.findMany({
    where: { id: { in: ids } },
    select: { id: true, clientId: true },
  });
  const clients = new Map(endpoints.map(({ id, clientId }) => [id, clientId]));
  return found.map(({ createdAt, finishedAt, state, endpointId }) => ({
    ...{ at: createdAt, finishedAt, state, clientId: clients.get(endpointId) ?? null },
  }));
}
