import { fromOverdueApps, type ClientId } from "../../access/index.ts";
import { hasWayToSignIn, isInSignInState, type SchoolId } from "../../directory/index.ts";
import { fields, makeFindOne, sql, table, findRows, statement } from "../../platform/database/sql.ts";
import type { Sql, Queryable } from "../../platform/database/sql.ts";
import { rfc3339 } from "../../platform/http/index.ts";
import type { Schemas } from "../handler.ts";
import { addDays } from "../../platform/clock.ts";

export type Some<T> = { count: number; first: T[] };

export const shownOfEach = 5;

/** SQL: the number of rows and the first few. `from` is a FROM clause with its WHERE, `order` an ORDER BY list. */
const someOf = (shape: Sql, from: Sql, order: Sql): Sql => sql`(
  SELECT json_build_object('count', count(*),
    'first', coalesce(json_agg(shown ORDER BY place) FILTER (WHERE place <= ${shownOfEach}), '[]'))
  FROM (SELECT ${shape} AS shown, row_number() OVER (ORDER BY ${order}) AS place FROM ${from}) found)`;

export const mapFirst = <T, U>({ count, first }: Some<T>, show: (one: T) => U) => ({ count, first: first.map(show) });

type AtSchools = NonNullable<Schemas["TodayAtSchools"]>;

export type TodayFound = Pick<AtSchools, "passwordRequests" | "withoutLogin" | "neverSignedIn" | "newLeavers"> &
  Pick<AtSchools, "unusedApps" | "openAgreements"> & {
    failingEndpoints: Some<Schemas["FailingEndpoint"]>;
    overdueErasures: Some<Schemas["OverdueErasures"]>;
    students: number;
    studentsWithLogin: number;
    hasApps: boolean;
  };

/** Null means the whole service. */
type TodayQuery = {
  schoolIds: readonly SchoolId[];
  endpointsOf: readonly ClientId[] | null;
  erasuresOf: readonly ClientId[] | null;
  overdueBefore: Date;
  waitDays: number;
  leftSince: Date;
  unusedSince: Date;
};

const p = table("person", "p");
const a = table("affiliation", "a");
const g = table("grant", "g");
const app = table("app", "app");
const signIn = table("signIn", "si");
const e = table("webhookEndpoint", "e");
const request = table("passwordRequest", "r");
const asking = table("school", "asking");
const agreement = table("agreement", "current");
const accepted = table("agreementAcceptance", "accepted");

const named = sql`'name', CASE WHEN ${p.last} IS NOT NULL THEN
  json_build_object('firstFull', ${p.firstFull}, 'firstCall', ${p.firstCall}, 'last', ${p.last}) END`;
const isStudent = sql`${p.status} = 'ACTIVE' AND ${p.role} = 'STUDENT'`;

export const findToday = makeFindOne<TodayFound, TodayQuery>((params) => {
  const { schoolIds, endpointsOf, erasuresOf, leftSince, unusedSince } = params;
  // Guests get logins and passwords from their home school.
  const isKept = sql`${p.homeSchoolId} = ANY (${schoolIds}::uuid[])`;
  return sql`
  WITH at_schools AS MATERIALIZED (
    SELECT ${p.id}, ${p.status}, ${p.role}, ${p.sortKey}, ${p.homeSchoolId}, ${p.softDeletedAt}, ${p.firstFull}, ${p.firstCall},
      ${p.last}
    FROM (SELECT DISTINCT ${a.personId} FROM ${a} WHERE ${a.schoolId} = ANY (${schoolIds}::uuid[])) at
    JOIN ${p} ON ${p.id} = at.person_id),
  used AS MATERIALIZED (
    SELECT DISTINCT ${a.schoolId}, ${signIn.clientId} FROM ${a} JOIN ${signIn} ON ${signIn.personId} = ${a.personId}
    WHERE ${a.schoolId} = ANY (${schoolIds}::uuid[]) AND ${signIn.lastSignInAt} >= ${unusedSince})
  SELECT ${fields<TodayFound>({
    passwordRequests: someOf(
      sql`json_build_object('id', ${p.id}, 'schoolId', ${asking.id}, 'schoolName', ${asking.name},
        'requestedAt', ${rfc3339(request.requestedAt)}, ${named})`,
      sql`${request} JOIN at_schools p ON ${p.id} = ${request.personId}
      JOIN ${asking} ON ${asking.id} = ${request.schoolId}
      WHERE ${isKept} AND ${request.schoolId} <> ${p.homeSchoolId}`,
      sql`${request.requestedAt}, ${p.id}, ${asking.id}`,
    ),
    withoutLogin: someOf(
      sql`json_build_object('id', ${p.id}, ${named})`,
      sql`at_schools p WHERE ${isKept} AND ${isInSignInState.IMPOSSIBLE(p)}`,
      sql`${p.sortKey}, ${p.id}`,
    ),
    neverSignedIn: sql`(SELECT count(*)::int FROM at_schools p WHERE ${isKept} AND ${isInSignInState.NEVER(p)})`,
    newLeavers: someOf(
      sql`json_build_object('id', ${p.id}, 'softDeletedAt', ${rfc3339(p.softDeletedAt)}, ${named})`,
      sql`at_schools p WHERE ${p.status} = 'SOFT_DELETED' AND ${p.softDeletedAt} >= ${leftSince}`,
      sql`${p.softDeletedAt} DESC, ${p.id}`,
    ),
    unusedApps: someOf(
      sql`json_build_object('clientId', ${app.clientId}, 'name', ${app.name}, 'schoolId', ${g.schoolId})`,
      sql`${g} JOIN ${app} ON ${app.clientId} = ${g.clientId}
      WHERE ${g.schoolId} = ANY (${schoolIds}::uuid[]) AND ${g.signOnAudience} <> 'NOBODY'
        AND ${g.createdAt} < ${unusedSince}
        AND NOT EXISTS (SELECT FROM used WHERE used.school_id = ${g.schoolId} AND used.client_id = ${g.clientId})`,
      sql`${app.name}, ${app.clientId}, ${g.schoolId}`,
    ),
    openAgreements: someOf(
      sql`json_build_object('clientId', ${app.clientId}, 'name', ${app.name}, 'schoolId', ${g.schoolId},
        'state', CASE WHEN ${accepted.id} IS NULL THEN 'OPEN' ELSE 'CHANGED' END)`,
      sql`${g} JOIN ${app} ON ${app.clientId} = ${g.clientId}
      JOIN LATERAL (
        SELECT ${agreement.id} FROM ${agreement}
        WHERE ${agreement.clientId} = ${g.clientId} AND ${agreement.publishedAt} IS NOT NULL
        ORDER BY ${agreement.publishedAt} DESC, ${agreement.id} DESC LIMIT 1) AS current ON true
      LEFT JOIN ${accepted} ON ${accepted.clientId} = ${g.clientId} AND ${accepted.schoolId} = ${g.schoolId}
        AND ${accepted.replacedAt} IS NULL AND ${accepted.withdrawnAt} IS NULL
      WHERE ${g.schoolId} = ANY (${schoolIds}::uuid[]) AND (${g.sync} OR ${g.signOnAudience} <> 'NOBODY')
        AND (${accepted.id} IS NULL OR ${accepted.agreementId} <> ${agreement.id}
          OR NOT (${app.attributes} <@ ${accepted.attributes} AND ${app.scopes} <@ ${accepted.scopes}))`,
      sql`${app.name}, ${app.clientId}, ${g.schoolId}`,
    ),
    failingEndpoints: someOf(
      sql`json_build_object('id', ${e.id}, 'clientId', ${e.clientId}, 'appName', ${app.name}, 'url', ${e.url},
        'state', ${e.state}, 'failingSince', ${rfc3339(e.failingSince)})`,
      sql`${e} JOIN ${app} ON ${app.clientId} = ${e.clientId}
      WHERE (${e.failingSince} IS NOT NULL OR ${e.reason} IN ('failing', 'gone'))
        AND (${endpointsOf}::text[] IS NULL OR ${e.clientId} = ANY (${endpointsOf}))`,
      sql`${e.stateChangedAt} DESC, ${e.id}`,
    ),
    overdueErasures: someOf(
      sql`json_build_object('clientId', ${app.clientId}, 'appName', ${app.name}, 
        'openSince', ${rfc3339(sql`open_erasure.open_since`)})`,
      fromOverdueApps(
        params,
        (of) => sql`${erasuresOf}::text[] IS NULL OR ${of.schoolId} = ANY (${schoolIds}::uuid[])
          OR ${of.clientId} = ANY (${erasuresOf})`,
      ),
      sql`open_erasure.open_since, ${app.clientId}`,
    ),
    students: sql`(SELECT count(*)::int FROM at_schools p WHERE ${isStudent} AND ${isKept})`,
    studentsWithLogin: sql`(
      SELECT count(*)::int FROM at_schools p WHERE ${isStudent} AND ${isKept} AND ${hasWayToSignIn(p)})`,
    hasApps: sql`EXISTS (SELECT FROM ${g} WHERE ${g.schoolId} = ANY (${schoolIds}::uuid[])
      AND (${g.sync} OR ${g.signOnAudience} <> 'NOBODY'))`,
  })}`;
});

/** Days before the end of a secret. */
export const secretNoticeDays = 30;

type Tasks = NonNullable<Schemas["TodaySchoolLogins"]>;
type TasksRow = Omit<Tasks, "refusals"> & { refusals: Some<Schemas["WaitingRefusals"]>; refusedAccounts: number };

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
  return sql`SELECT ${fields<TasksRow>({
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
  const params = { schoolIds, now, secretsUntil: addDays(now, secretNoticeDays) };
  const [row] = await findRows<TasksRow, Query>(db, selectTasks, params);
  const { refusals, refusedAccounts, ...tasks } = row!;
  return { ...tasks, refusals: schoolIds === null ? null : { accounts: refusedAccounts, ...refusals } };
}
