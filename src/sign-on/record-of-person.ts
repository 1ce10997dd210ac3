import type { PersonId } from "../directory/index.ts";
import { recordAudit, type AuditLine } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/db.ts";

/** Records what was done to a person: one line for each of their schools, so that each finds it in its own audit. */
export async function recordOfPerson(tx: Transaction, line: AuditLine & { personId: PersonId }): Promise<void> {
  const places = await tx.prisma.affiliation.findMany({
    where: { personId: line.personId },
    select: { schoolId: true },
    orderBy: { schoolId: "asc" },
  });
  for (const place of places.length > 0 ? places : [{}]) await recordAudit(tx, { ...line, ...place });
}

/** Records what happened to a person, or what they did themselves, in the audit of their home school. */
export async function recordAtHome(db: RecordStore, line: AuditLine & { personId: PersonId }): Promise<void> {
  const person = await db.prisma.person.findUnique({
    where: { id: line.personId },
    select: { homeSchoolId: true },
  });
  await recordAudit(db, { ...line, schoolId: person?.homeSchoolId });
}
