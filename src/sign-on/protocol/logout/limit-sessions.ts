import type { PersonId } from "../../../directory/index.ts";
import type { PrismaDb } from "../../../platform/database/db.ts";
import { findSurplusSessions } from "../storage/surplus-sessions.ts";
import { endSession } from "./end-session.ts";

export async function limitSessions(db: PrismaDb, { personId, at }: { personId: PersonId; at: Date }): Promise<void> {
  await endSessions(db, await findSurplusSessions(db.pool, personId), at);
}

export async function endSessions(db: PrismaDb, uids: readonly string[], at: Date): Promise<void> {
  for (const uid of uids) await endSession(db, { uid, at, requestId: undefined });
}
