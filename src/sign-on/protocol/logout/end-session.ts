import { recordAudit } from "../../../events/index.ts";
import { type PrismaDb, withPrismaTransaction } from "../../../platform/database/db.ts";
import { deleteSession, findSessionByUid, findSurplusSessions } from "../storage/artifact.ts";
import { recordNotices } from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";

type Ending = { uid: string; at: Date; requestId: string | undefined };

/** Ends a session that no app asked to end, and notifies the apps that it was used for. */
export async function endSession(db: PrismaDb, { uid, at, requestId }: Ending): Promise<void> {
  await withPrismaTransaction(db, async (tx) => {
    const session = await findSessionByUid(tx, uid);
    if (!session) return;
    const { accountId: personId, authorizations } = session;
    const clientIds = personId === undefined ? [] : Object.keys(authorizations ?? {});
    await recordNotices(
      tx,
      clientIds.map((clientId) => ({ clientId, personId: personId!, sid: uid, at })),
    );
    await deleteSession(tx, uid);
    await recordAudit(tx, { at, action: "logged_out", personId, requestId });
  });
}

export async function limitSessions(db: PrismaDb, { personId, at }: { personId: PersonId; at: Date }): Promise<void> {
  await endSessions(db, await findSurplusSessions(db.pool, personId), at);
}

export async function endSessions(db: PrismaDb, uids: readonly string[], at: Date): Promise<void> {
  for (const uid of uids) await endSession(db, { uid, at, requestId: undefined });
}
