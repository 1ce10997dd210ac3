import type { Queryable } from "../../platform/db.ts";
import { makeUuid } from "../../platform/ids.ts";

export type LogoutNotice = {
  id: string;
  clientId: string;
  personId: string;
  sid: string;
  attempts: number;
  uri: string;
  algorithm: "RS256" | "ES256" | "EdDSA";
};

type NewNotice = { clientId: string; personId: string; sid: string; at: Date };

/** Has an app told of a logout, if it registered where. */
export function makeNoticeStatement({ clientId, personId, sid, at }: NewNotice): { text: string; values: unknown[] } {
  return {
    text: `
      INSERT INTO logout_notice (id, client_id, person_id, sid, next_attempt_at, created_at)
      SELECT $1::uuid, client_id, $3::uuid, $4, $5, $5 FROM app WHERE client_id = $2 AND backchannel_logout_uri IS NOT NULL`,
    values: [makeUuid(at), clientId, personId, sid, at],
  };
}

/** Takes notices that are due, for as long as the lease; whoever dies meanwhile leaves them to the next. */
export async function leaseLogoutNotices(
  db: Queryable,
  { now, leaseSeconds, limit }: { now: Date; leaseSeconds: number; limit: number },
): Promise<LogoutNotice[]> {
  const { rows } = await db.query<LogoutNotice>(
    `UPDATE logout_notice notice SET attempts = attempts + 1, next_attempt_at = $2
     FROM app WHERE app.client_id = notice.client_id AND notice.id IN (
       SELECT id FROM logout_notice WHERE next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING notice.id, notice.client_id AS "clientId", notice.person_id AS "personId", notice.sid, notice.attempts,
       app.backchannel_logout_uri AS uri, app.id_token_algorithm::text AS algorithm`,
    [now, new Date(now.getTime() + leaseSeconds * 1000), limit],
  );
  return rows;
}

export async function deleteLogoutNotice(db: Queryable, id: string): Promise<void> {
  await db.query("DELETE FROM logout_notice WHERE id = $1", [id]);
}

export async function postponeLogoutNotice(db: Queryable, id: string, until: Date): Promise<void> {
  await db.query("UPDATE logout_notice SET next_attempt_at = $2 WHERE id = $1", [id, until]);
}
