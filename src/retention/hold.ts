import type { SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";

/** A school whose retention waits for its staff, because a run would soft-delete unusually many. */
export type RetentionHold = { schoolId: SchoolId; schoolName: string; heldAt: Date; people: number };

export async function listRetentionHolds(
  { prisma }: RecordStore,
  schoolIds: readonly SchoolId[],
): Promise<RetentionHold[]> {
  const found = await prisma.retentionCheck.findMany({
    where: { schoolId: { in: [...schoolIds] }, heldAt: { not: null } },
    include: { school: { select: { name: true } } },
    orderBy: [{ heldAt: "asc" }, { schoolId: "asc" }],
  });
  return found.map(({ schoolId, school, heldAt, heldPeople }) => ({
    schoolId: schoolId as SchoolId,
    schoolName: school.name,
    heldAt: heldAt!,
    people: heldPeople!,
  }));
}

/** Lets the next run soft-delete so many people. Errors: conflict retention_not_held, retention_not_confirmed. */
export async function releaseRetention(
  tx: Transaction,
  { schoolId, people }: { schoolId: SchoolId; people: number },
  origin: Origin,
): Promise<void> {
  const [hold] = await listRetentionHolds(tx, [schoolId]);
  if (hold === undefined)
    throw new AppError("conflict", "retention_not_held", "The retention of the school is not held.");
  if (hold.people !== people)
    throw new AppError(
      "conflict",
      "retention_not_confirmed",
      "The number of people is another one now. Look at the list of them and confirm it.",
    );
  const data = { checkAt: origin.at, heldAt: null, heldPeople: null, releasedPeople: people };
  await tx.prisma.retentionCheck.update({ where: { schoolId }, data });
  await recordAudit(tx, { ...origin, action: "retention_released", schoolId, detail: { people } });
}
