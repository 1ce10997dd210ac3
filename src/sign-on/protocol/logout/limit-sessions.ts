import type { PersonId } from "../../../directory/index.ts";
import type { PrismaDb } from "../../../platform/database/db.ts";
import { endSession } from "./end-session.ts";

/** More browsers than anybody uses at the same time. */
export const sessionsPerPerson = 100;

/** Ends the oldest sessions of a person who signs in again and again. */
export async function limitSessions(db: PrismaDb, { personId, at }: { personId: PersonId; at: Date }): Promise<void> {
  const surplus = await db.prisma.oidcArtifact.findMany({
    where: { personId, kind: "Session" },
    orderBy: { expiresAt: "desc" },
    skip: sessionsPerPerson - 1,
    select: { sessionUid: true },
  });
  const uids = surplus.flatMap(({ sessionUid: uid }) => (uid === null ? [] : [uid]));
  await endSessions(db, uids, at);
}

export async function endSessions(db: PrismaDb, uids: readonly string[], at: Date): Promise<void> {
  for (const uid of uids) await endSession(db, { uid, at, requestId: undefined });
}
