import type { PersonId } from "../../../directory/index.ts";
import type { PrismaDb } from "../../../platform/database/db.ts";
import { endSession } from "./end-session.ts";

/** More browsers than anybody uses at the same time. */
const sessionsPerPerson = 100;

/** Ends the oldest sessions of a person who signs in again and again. */
export async function limitSessions(db: PrismaDb, { personId, at }: { personId: PersonId; at: Date }): Promise<void> {
  const surplus = await db.prisma.oidcArtifact.findMany({
    where: { personId, kind: "Session" },
    orderBy: { expiresAt: "desc" },
    skip: sessionsPerPerson - 1,
    select: { sessionUid: true },
  });
  for (const { sessionUid: uid } of surplus) if (uid !== null) await endSession(db, { uid, at, requestId: undefined });
}
