import type { PersonId } from "../../directory/index.ts";
import type { Db } from "../../platform/db.ts";
import { endSession } from "./end-session.ts";

/** More browsers than anybody uses at the same time. */
const sessionsPerPerson = 100;

/** Ends the oldest sessions of a person who signs in again and again. */
export async function limitSessions(db: Db, { personId, at }: { personId: PersonId; at: Date }): Promise<void> {
  const { rows } = await db.pool.query<{ uid: string }>({
    name: "sign-on.listSurplusSessions",
    text: `SELECT session_uid AS uid FROM oidc_artifact WHERE person_id = $1 AND kind = 'Session' ORDER BY expires_at DESC OFFSET $2`,
    values: [personId, sessionsPerPerson - 1],
  });
  for (const { uid } of rows) await endSession(db, { uid, at, requestId: undefined });
}
