import type { Queryable } from "../../../platform/database/sql.ts";
import { findRows, sql, type Sql, statement, table, type Value } from "../../../platform/database/sql.ts";

/** More browsers than anybody uses at the same time. */
const sessionsPerPerson = 100;

const kept = table("oidcArtifact", "kept");

/** SQL value: the uids of a person's oldest sessions as a JSON array, which one more session would make too many. */
export const surplusSessionsOf = (personId: Value): Sql => sql`(
  SELECT coalesce(json_agg(surplus.uid), '[]') FROM (
    SELECT ${kept.sessionUid} AS uid FROM ${kept}
    WHERE ${kept.personId} = ${personId} AND ${kept.kind} = 'Session' AND ${kept.sessionUid} IS NOT NULL
    ORDER BY ${kept.expiresAt} DESC OFFSET ${sessionsPerPerson - 1}) AS surplus)`;

const surplusSessions = statement<{ personId: string }>(
  ({ personId }) => sql`SELECT ${surplusSessionsOf(personId)} AS uids`,
  "sign-on.surplusSessions",
);

export async function findSurplusSessions(db: Queryable, personId: string): Promise<string[]> {
  const [row] = await findRows<{ uids: string[] }>(db, surplusSessions, { personId });
  return row!.uids;
}
