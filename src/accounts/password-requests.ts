import type { PersonId, SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { recordAtHome } from "./record-at-home.ts";

/** The caller holds the lock of the person. Errors: not_found affiliation_not_found; conflict home_school_asks. */
export async function requestPasswordIn(
  tx: Transaction,
  { personId, schoolId }: { personId: PersonId; schoolId: SchoolId },
  origin: Origin,
): Promise<void> {
  const affiliation = await tx.prisma.affiliation.findUnique({
    where: { personId_schoolId: { personId, schoolId } },
    select: { passwordRequests: true, person: { select: { homeSchoolId: true } } },
  });
  if (affiliation === null)
    throw new AppError("not_found", "affiliation_not_found", "The person is not at this school.");
  if (affiliation.person.homeSchoolId === schoolId)
    throw new AppError("conflict", "home_school_asks", "The school is the person's home. Give them a new password.");
  if (affiliation.passwordRequests.length > 0) return;
  await tx.prisma.passwordRequest.create({ data: { personId, schoolId, requestedAt: origin.at } });
  const line = { ...origin, action: "password_requested" as const, personId };
  await recordAudit(tx, { ...line, schoolId });
  await recordAtHome(tx, { ...line, detail: { by: schoolId } });
}

export async function closePasswordRequests({ prisma }: RecordStore, personIds: readonly PersonId[]): Promise<number> {
  const { count } = await prisma.passwordRequest.deleteMany({ where: { personId: { in: [...personIds] } } });
  return count;
}

export async function withdrawPasswordRequestsIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<void> {
  if ((await closePasswordRequests(tx, [personId])) > 0)
    await recordAtHome(tx, { ...origin, action: "password_requests_withdrawn", personId });
}
