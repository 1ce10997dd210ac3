import type { RecordStore } from "../platform/database/db.ts";

/** When an app was told of a subject, and of what. */
export type EventOfSubject = { at: Date; clientId: string; action: string };

/** The events of one subject, the newest first. */
export function listEventsOf(
  { prisma }: RecordStore,
  { subjectId, limit }: { subjectId: string; limit: number },
): Promise<EventOfSubject[]> {
  return prisma.appEvent.findMany({
    where: { subjectId },
    select: { at: true, clientId: true, action: true },
    orderBy: { seq: "desc" },
    take: limit,
  });
}
