import type { PersonId } from "../directory/index.ts";
import { recordAudit, type AuditLine } from "../events/index.ts";
import type { RecordStore } from "../platform/database/db.ts";

export async function recordAtHome(db: RecordStore, line: AuditLine & { personId: PersonId }): Promise<void> {
  const person = await db.prisma.person.findUnique({
    where: { id: line.personId },
    select: { homeSchoolId: true },
  });
  await recordAudit(db, { ...line, schoolId: person?.homeSchoolId });
}
