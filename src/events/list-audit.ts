import type { Prisma } from "../../generated/prisma/client.ts";
import type { RecordStore } from "../platform/database/db.ts";

type AuditFilter = {
  personId?: string | undefined;
  actorId?: string | undefined;
  schoolId?: string | undefined;
  clientId?: string | undefined;
  action?: string | undefined;
  among?: { schoolIds: readonly string[]; clientIds: readonly string[] } | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  after?: { at: Date; id: string } | undefined;
  isOldestFirst?: boolean | undefined;
  limit: number;
};

export type RecordedAudit = Prisma.AuditModel;

/** Lines of people that are part of an act of several are listed only for their person. */
export function listAudit(
  { prisma }: RecordStore,
  { limit, among, since, until, after, isOldestFirst = false, ...where }: AuditFilter,
): Promise<RecordedAudit[]> {
  const direction = isOldestFirst ? "asc" : "desc";
  const conditions = [where as Prisma.AuditWhereInput];
  if (where.personId === undefined) conditions.push({ actId: null });
  if (since !== undefined) conditions.push({ at: { gte: since } });
  if (until !== undefined) conditions.push({ at: { lt: until } });
  if (after !== undefined)
    conditions.push(
      isOldestFirst
        ? { at: { gte: after.at }, OR: [{ at: { gt: after.at } }, { id: { gt: after.id } }] }
        : { at: { lte: after.at }, OR: [{ at: { lt: after.at } }, { id: { lt: after.id } }] },
    );
  if (among !== undefined)
    conditions.push({
      OR: [{ schoolId: { in: [...among.schoolIds] } }, { clientId: { in: [...among.clientIds] } }],
    });
  return prisma.audit.findMany({
    where: { AND: conditions },
    orderBy: [{ at: direction }, { id: direction }],
    take: limit,
  });
}
