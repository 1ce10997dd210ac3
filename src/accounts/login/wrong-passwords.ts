import type { PersonId } from "../../directory/index.ts";
import { columnNames, insert, makeRun, sql, table, type Sql, type Value } from "../../platform/database/sql.ts";

type WrongPassword = { key: Buffer; personId: PersonId | null; now: Date };

const wrong = table("wrongPassword");

/** Counts a wrong password for a user name, whether or not somebody has it. The password itself is never stored. */
export const recordWrongPassword = makeRun<WrongPassword>(({ key, personId, now }) => {
  const at = sql`${now}::timestamptz`;
  const row = { key, hour: sql`date_trunc('hour', ${at})`, personId: sql`${personId}::uuid`, tries: 1, lastAt: at };
  return sql`
    ${insert("wrongPassword", row)} ON CONFLICT (${columnNames("wrongPassword", "key", "hour")})
    DO UPDATE SET (${columnNames("wrongPassword", "personId", "tries", "lastAt")}) = (
      ${personId}::uuid, ${wrong.tries} + 1, greatest(${wrong.lastAt}, ${at}))`;
}, "sign-in-wrong-password");

/** Of the last 24 hours, to the hour. */
export type WrongPasswords = { tries: number; lastAt: string | null };

export const wrongPasswordsOf = (personId: Value, now: Value): Sql => sql`(
  SELECT json_build_object('tries', coalesce(sum(${wrong.tries}), 0), 'lastAt', max(${wrong.lastAt}))
  FROM ${wrong} WHERE ${wrong.personId} = ${personId} AND ${wrong.lastAt} > ${now}::timestamptz - interval '24 hours')`;
