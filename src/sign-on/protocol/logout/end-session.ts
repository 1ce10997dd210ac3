import { recordAudit } from "../../../events/index.ts";
import { type PrismaDb, type Transaction, withPrismaTransaction } from "../../../platform/database/db.ts";
import { deleteSession, findSessionByUid, findBeforeSession } from "../storage/artifact.ts";
import { recordNotices, type SessionRule } from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";

/** Deletes a session and notifies the apps that it was used for. Returns the session; null if it had ended. */
export async function deleteNotified(tx: Transaction, { uid, at }: { uid: string; at: Date }) {
  const session = await findSessionByUid(tx, uid);
  if (session === null) return null;
  const { accountId: personId, authorizations } = session;
  const clientIds = personId === undefined ? [] : Object.keys(authorizations ?? {});
  const notices = clientIds.map((clientId) => ({ clientId, personId: personId!, sid: uid, at }));
  await recordNotices(tx, notices);
  await deleteSession(tx, { uid });
  return session;
}

type Ending = { uid: string; at: Date; requestId: string | undefined };

/** Ends a session that no app asked to end. */
export async function endSession(db: PrismaDb, { uid, at, requestId }: Ending): Promise<void> {
  await withPrismaTransaction(db, async (tx) => {
    const session = await deleteNotified(tx, { uid, at });
    if (session !== null) await recordAudit(tx, { at, action: "logged_out", personId: session.accountId, requestId });
  });
}

/** Makes room for one more session. Returns how long it may last. */
export async function limitSessions(
  db: PrismaDb,
  { personId, at }: { personId: PersonId; at: Date },
): Promise<SessionRule | null> {
  const { surplus, rule } = await findBeforeSession(db.pool, { personId });
  for (const uid of surplus) await endSession(db, { uid, at, requestId: undefined });
  return rule;
}
