import type { AdapterPayload } from "oidc-provider";
import { recordAudit } from "../../events/index.ts";
import type { Db, Queryable } from "../../platform/db.ts";
import { withTransaction } from "../../platform/db.ts";
import { deleteSession, findSessionByUid } from "../storage/artifact.ts";
import { makeNoticeStatement } from "./notice.ts";

type Ending = { uid: string; at: Date; requestId: string | undefined };

/** Ends a session where no app asked for it: the apps it was used for are told all the same. */
export async function endSession(db: Db, { uid, at, requestId }: Ending): Promise<void> {
  await withTransaction(db, async (tx) => {
    const session = await findSessionByUid(tx, uid);
    if (!session) return;
    await addNotices(tx, session, { uid, at });
    await deleteSession(tx, uid);
    await recordAudit(tx, { at, action: "logged_out", personId: session.accountId, requestId });
  });
}

async function addNotices(
  tx: Queryable,
  { accountId, authorizations }: AdapterPayload,
  { uid, at }: { uid: string; at: Date },
): Promise<void> {
  if (!accountId) return;
  for (const clientId of Object.keys(authorizations ?? {}))
    await tx.query(makeNoticeStatement({ clientId, personId: accountId, sid: uid, at }));
}
