import type { SchoolId } from "../../directory/index.ts";
import { addDays } from "../../platform/clock.ts";
import { fields, findRows, sql, statement, table, type Queryable } from "../../platform/database/sql.ts";
import { rfc3339 } from "../../platform/http/index.ts";
import type { Schemas } from "../handler.ts";
import { someOf, type Some } from "./today-some.ts";

/** Days before the end of a secret. */
export const secretNoticeDays = 30;

type Tasks = NonNullable<Schemas["TodaySchoolLogins"]>;
type Found = Omit<Tasks, "refusals"> & { refusals: Some<Schemas["WaitingRefusals"]>; refusedAccounts: number };

/** Null means all schools. */
type Query = { schoolIds: readonly SchoolId[] | null; now: Date; secretsUntil: Date };

const c = table("upstreamConnection", "c");
const s = table("school", "s");
const r = table("upstreamRefusal", "r");
const w = table("schoolWayIn", "w");

const of = sql`'id', ${c.id}, 'name', ${c.name}, 'schoolId', ${s.id}, 'schoolName', ${s.name}`;
const atSchool = sql`${c} JOIN ${s} ON ${s.id} = ${c.schoolId}`;

const selectTasks = statement<Query>(({ schoolIds, now, secretsUntil }) => {
  const isAsked = sql`(${schoolIds}::uuid[] IS NULL OR ${s.id} = ANY (${schoolIds}))`;
  return sql`SELECT ${fields<Found>({
    failing: someOf(
      sql`json_build_object(${of}, 'failingSince', ${rfc3339(c.failingSince)},
        'lastFailure', coalesce(${c.lastFailure}, 'NONE'))`,
      sql`${atSchool} WHERE ${c.failingSince} IS NOT NULL AND ${c.state} = 'ON' AND ${isAsked}`,
      sql`${c.failingSince}, ${c.id}`,
    ),
    expiringSecrets: someOf(
      sql`json_build_object(${of}, 'secretExpiresAt', ${rfc3339(c.secretExpiresAt)})`,
      sql`${atSchool} WHERE ${c.secretExpiresAt} <= ${secretsUntil} AND ${c.state} <> 'OFF' AND ${isAsked}`,
      sql`${c.secretExpiresAt}, ${c.id}`,
    ),
    refusals: someOf(
      sql`json_build_object(${of}, 'refusals', waiting.refusals, 'guests', waiting.guests,
        'lastAt', ${rfc3339(sql`waiting.last_at`)})`,
      sql`${atSchool} JOIN LATERAL (
        SELECT count(*)::int AS refusals,
          (count(*) FILTER (WHERE ${r.code} = 'WAITS_FOR_STAFF'))::int AS guests, max(${r.lastAt}) AS last_at FROM ${r} WHERE ${r.connectionId} = ${c.id}
      ) waiting ON waiting.refusals > 0 WHERE ${s.id} = ANY (${schoolIds}::uuid[])`,
      sql`waiting.last_at DESC, ${c.id}`,
    ),
    refusedAccounts: sql`(
      SELECT count(*)::int FROM ${atSchool} JOIN ${r} ON ${r.connectionId} = ${c.id}
      WHERE ${s.id} = ANY (${schoolIds}::uuid[]))`,
    emergencies: someOf(
      sql`json_build_object('schoolId', ${s.id}, 'schoolName', ${s.name}, 
        'emergencyUntil', ${rfc3339(w.emergencyUntil)})`,
      sql`${w} JOIN ${s} ON ${s.id} = ${w.schoolId} WHERE ${w.emergencyUntil} > ${now} AND ${isAsked}`,
      sql`${w.emergencyUntil}, ${s.id}`,
    ),
  })}`;
});

/** Tasks about the logins that schools have elsewhere; `schoolIds` null for those of all schools. */
export async function readSchoolLoginTasks(
  db: Queryable,
  { schoolIds, now }: Pick<Query, "schoolIds" | "now">,
): Promise<Schemas["TodaySchoolLogins"]> {
  const asked = { schoolIds, now, secretsUntil: addDays(now, secretNoticeDays) };
  const [found] = await findRows<Found, Query>(db, selectTasks, asked);
  const { refusals, refusedAccounts, ...tasks } = found!;
  return { ...tasks, refusals: schoolIds === null ? null : { accounts: refusedAccounts, ...refusals } };
}
