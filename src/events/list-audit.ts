import type { PrismaDb } from "../platform/db.ts";

/** Which lines: all that is given must hold. */
export type AuditFilter = {
  personId?: string | undefined;
  schoolId?: string | undefined;
  clientId?: string | undefined;
  action?: string | undefined;
  since?: Date | undefined;
  limit: number;
};

export type RecordedAudit = {
  id: string;
  at: Date;
  action: string;
  actorId: string | null;
  clientId: string | null;
  personId: string | null;
  schoolId: string | null;
  requestId: string | null;
  detail: unknown;
};

/** Audit lines, the newest first. */
export function listAudit(
  { prisma }: Pick<PrismaDb, "prisma">,
  { limit, since, ...where }: AuditFilter,
): Promise<RecordedAudit[]> {
  const given = Object.fromEntries(Object.entries(where).filter(([, value]) => value !== undefined));
  return prisma.audit.findMany({
    where: { ...given, ...(since !== undefined && { at: { gte: since } }) },
    orderBy: [{ at: "desc" }, { id: "desc" }],
    take: limit,
  });
}
