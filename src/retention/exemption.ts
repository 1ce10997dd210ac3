import { checkLines, type PersonId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";

export type RetentionExemption = { until: Date; reason: string };

export const longestReason = 500;
const longestMonths = 24;

/** Locks the exemption of a person, also where there is none yet, until the end of the transaction. */
export const lockExemption = makeRowLock("person", "id", "retention.lockPerson");

export async function findExemption(
  { prisma }: RecordStore,
  personId: PersonId,
): Promise<(RetentionExemption & { givenAt: Date }) | null> {
  return prisma.retentionExemption.findUnique({ where: { personId }, omit: { personId: true } });
}

async function recordAtHome(tx: Transaction, personId: PersonId, line: Parameters<typeof recordAudit>[1]) {
  const person = await tx.prisma.person.findUniqueOrThrow({ where: { id: personId }, select: { homeSchoolId: true } });
  await recordAudit(tx, { ...line, personId, schoolId: person.homeSchoolId });
}

/** Errors: invalid text_*, exemption_date. */
export async function putExemption(tx: Transaction, personId: PersonId, exemption: RetentionExemption, origin: Origin) {
  const latest = new Date(origin.at);
  latest.setUTCMonth(latest.getUTCMonth() + longestMonths);
  if (exemption.until <= origin.at || exemption.until > latest)
    throw new AppError("invalid", "exemption_date", `Choose a date in the next ${longestMonths} months.`);
  const data = {
    until: exemption.until,
    reason: checkLines("reason", exemption.reason, longestReason),
    givenAt: origin.at,
  };
  await tx.prisma.retentionExemption.upsert({ where: { personId }, create: { personId, ...data }, update: data });
  await recordAtHome(tx, personId, { ...origin, action: "retention_exemption_given" });
}

/** Errors: not_found exemption_not_found. */
export async function deleteExemption(tx: Transaction, personId: PersonId, origin: Origin): Promise<void> {
  const { count } = await tx.prisma.retentionExemption.deleteMany({ where: { personId } });
  if (count === 0)
    throw new AppError("not_found", "exemption_not_found", "The retention applies to this person already.");
  await recordAtHome(tx, personId, { ...origin, action: "retention_exemption_ended" });
}
