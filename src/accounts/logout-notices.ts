import { appIdOf } from "../access/index.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { fields, insert, jsonRows, makeFind, makeRun, pick, sql, table, update } from "../platform/database/sql.ts";
import type { Parameter, Queryable, Sql } from "../platform/database/sql.ts";

export type LogoutNotice = {
  id: string;
  clientId: string;
  /** The person's id as the app knows it; a random one if the app knows nobody by an id of its own any more. */
  sub: string;
  hasOwnSid: boolean;
  /** The session's own id. */
  sid: string;
  attempts: number;
  uri: string;
  algorithm: "RS256" | "ES256" | "EdDSA";
};

export type NewNotice = { clientId: string; personId: string; sid: string; at: Date };

const app = table("app");

export const toNoticeRows = (notices: readonly NewNotice[]): string =>
  JSON.stringify(notices.map((notice) => ({ ...notice, id: makeUuid(notice.at) })));

/** Stores notices for the apps that registered a logout address. */
export function storeNotices(notices: Parameter, condition: Sql): Sql {
  const types = { id: "uuid", clientId: "text", personId: "uuid", sid: "text", at: "timestamptz" } as const;
  const { from, columns: row } = jsonRows(notices, "new_notice", types);
  return insert(
    "logoutNotice",
    {
      ...pick(row, "id", "personId", "sid"),
      clientId: app.clientId,
      nextAttemptAt: row.at,
      createdAt: row.at,
    },
    sql`FROM ${from} JOIN ${app} ON ${app.clientId} = ${row.clientId}
        WHERE ${app.backchannelLogoutUri} IS NOT NULL AND ${condition}`,
  );
}

const insertNotices = makeRun<{ notices: string }>(
  ({ notices }) => storeNotices(notices, sql`true`),
  "sign-on.recordNotices",
);

export async function recordNotices(tx: Queryable, notices: readonly NewNotice[]): Promise<void> {
  if (notices.length > 0) await insertNotices(tx, { notices: toNoticeRows(notices) });
}

const notice = table("logoutNotice", "notice");
const due = table("logoutNotice", "due");

const leaseDue = makeFind<LogoutNotice, { now: Date; until: Date; limit: number }>(
  ({ now, until, limit }) => sql`
    ${update("logoutNotice", "notice", { attempts: sql`${notice.attempts} + 1`, nextAttemptAt: until })}
    FROM ${app} WHERE ${app.clientId} = ${notice.clientId} AND ${notice.id} IN (
      SELECT ${due.id} FROM ${due} WHERE ${due.nextAttemptAt} <= ${now}
      ORDER BY ${due.nextAttemptAt} LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING ${fields<LogoutNotice>({
      ...pick(notice, "id", "clientId", "sid", "attempts"),
      sub: sql`coalesce(${appIdOf(notice.clientId, notice.personId)}, gen_random_uuid())`,
      hasOwnSid: sql`${app.subjectType} <> 'SHARED'`,
      uri: app.backchannelLogoutUri,
      algorithm: sql`${app.idTokenAlgorithm}::text`,
    })}`,
);

/** Leases due notices. After the lease, another process takes those that were not sent. */
export function leaseLogoutNotices(
  db: Queryable,
  { now, leaseSeconds, limit }: { now: Date; leaseSeconds: number; limit: number },
): Promise<LogoutNotice[]> {
  return leaseDue(db, { now, until: new Date(now.getTime() + leaseSeconds * 1000), limit });
}

export const deleteLogoutNotice = makeRun<{ id: string }>()`DELETE FROM ${notice} WHERE ${notice.id} = ${"id"}`;

export const postponeLogoutNotice = makeRun<{ id: string; until: Date }>()`
    ${({ until }) => update("logoutNotice", "notice", { nextAttemptAt: until })} WHERE ${notice.id} = ${"id"}`;
