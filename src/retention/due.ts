import { hasWayToSignIn, joinRetention } from "../directory/index.ts";
import type { PersonId, PersonName, RetentionDefaults, SchoolId } from "../directory/index.ts";
import { fields, makeFind, pick, sql, table } from "../platform/database/sql.ts";
import type { Parameters, Part, Queryable, Sql } from "../platform/database/sql.ts";

/** Why a person will be soft-deleted: they left their last school, or have not signed in. */
type RetentionCause = "LEFT" | "INACTIVE";

export type Params = RetentionDefaults & { now: Date };

/**
 * What the operator sets: periods of schools without their own, within what others may choose, and when a run is held.
 *
 * Units: share from 0 to 1.
 */
export type RetentionRules = {
  defaults: RetentionDefaults;
  limits: { [Name in keyof RetentionDefaults]: { min: number; max: number } };
  /** A run that would soft-delete more than both of a school's people is held. */
  hold: { people: number; share: number };
  noticeDays: number;
};

export const givenAt = ({ defaults }: Pick<RetentionRules, "defaults">, now: Date): Params => ({ ...defaults, now });

export const isUnusual = (hold: RetentionRules["hold"], due: number, people: number): boolean =>
  due > hold.people && due > people * hold.share;

const s = table("school", "s");
const p = table("person", "p");
const a = table("affiliation", "a");
const other = table("affiliation", "other");
const r = table("staffRole", "r");
const c = table("credential", "c");
const signIn = table("signIn", "si");
const device = table("signInPlace", "d");
const card = table("loginCard", "card");
const token = table("oidcArtifact", "token");
const e = table("retentionExemption", "e");

const inUtc = (at: Part) => sql`(${at} AT TIME ZONE 'UTC')`;
const addMonths = (at: Sql, months: Part) => inUtc(sql`(${inUtc(at)} + make_interval(months => ${months}))`);
const yearOf = (at: Sql) => sql`extract(year FROM (${inUtc(at)} + interval '5 months'))::int`;

// A school year ends on 31 July in every state.
const leftFrom = sql`CASE retention."leftFrom" WHEN 'LEAVING' THEN ${p.leftAt}
  ELSE make_timestamptz(${yearOf(p.leftAt)}, 8, 1, 0, 0, 0, 'UTC') END`;

// Devices are noted once a day.
const lastSignIn = sql`greatest(
  (SELECT max(${signIn.lastSignInAt}) FROM ${signIn} WHERE ${signIn.personId} = ${p.id}),
  (SELECT max(${device.lastUsedAt}) FROM ${device} WHERE ${device.personId} = ${p.id}) + interval '1 day',
  (SELECT max(${card.lastUsedAt}) FROM ${card} WHERE ${card.personId} = ${p.id}),
  (SELECT greatest(${c.updatedAt}, CASE WHEN ${c.hasSignedIn} THEN ${c.forgottenSignInAt} + interval '1 day' END)
   FROM ${c} WHERE ${c.personId} = ${p.id}))`;

const holdsNoRole = (now: Part) => sql`NOT EXISTS (
  SELECT FROM ${r} WHERE ${r.personId} = ${p.id} AND (${r.endsAt} IS NULL OR ${r.endsAt} > ${now}))`;
const isHome = sql`${p.homeSchoolId} = ${s.id} AND ${p.status} = 'ACTIVE'`;

/** SQL: leavers of school `s` who are at no other school. */
const leavers = (who: Sql) => sql`
  SELECT ${p.id}, 'LEFT' AS cause,
    greatest(${addMonths(leftFrom, sql`retention."leftMonths"`)}, retention."leftEffectiveAt") AS due
  FROM ${p} WHERE ${isHome} AND ${p.leftAt} IS NOT NULL AND ${who} AND NOT EXISTS (
    SELECT FROM ${other} WHERE ${other.personId} = ${p.id} AND ${other.schoolId} <> ${s.id})`;

/**
 * SQL: people of school `s` who can sign in and do not. Whom a roster names counts only if the policy says so; somebody
 * who is blocked cannot sign in, and an app that is in use needs no sign-in.
 */
const inactive = (who: Sql, now: Part) => sql`
  SELECT ${p.id}, 'INACTIVE' AS cause, greatest(${addMonths(
    sql`greatest(${p.createdAt}, ${p.retentionFrom}, ${lastSignIn})`,
    sql`retention."inactiveMonths"`,
  )}, retention."inactiveEffectiveAt") AS due
  FROM ${a} JOIN ${p} ON ${p.id} = ${a.personId}
  WHERE ${a.schoolId} = ${s.id} AND retention."inactiveMonths" > 0 AND ${isHome} AND ${who} AND ${p.blockedAt} IS NULL
    AND (retention."inactiveRoster" OR ${p.sourceSystemIdentifier} IS NULL OR ${p.leftAt} IS NOT NULL)
    AND ${hasWayToSignIn(p)} AND NOT EXISTS (SELECT FROM ${token}
      WHERE ${token.personId} = ${p.id} AND ${token.kind} = 'RefreshToken' AND ${token.consumedAt} IS NULL
        AND ${token.expiresAt} > ${now})`;

/**
 * SQL: a relation of the people whom the retention of some schools soft-deletes, and when: `person_id`, `school_id`,
 * `cause`, `due_at`. Their home school's policy decides. Staff with a role are never among them.
 */
const dueAmong = (params: Parameters<Params>, { schools, who }: { schools: Sql; who?: Sql }): Sql => sql`(
  SELECT found.id AS person_id, ${s.id} AS school_id, found.cause,
    greatest(found.due, ${e.until}) AS due_at
  FROM ${s} ${joinRetention(params)}
  CROSS JOIN LATERAL (
    SELECT DISTINCT ON (id) id, cause, due
    FROM (${leavers(who ?? sql`true`)} UNION ALL ${inactive(who ?? sql`true`, params.now)}) AS either
    ORDER BY id, due) AS found
  JOIN ${p} ON ${p.id} = found.id LEFT JOIN ${e} ON ${e.personId} = found.id
  WHERE ${s.sandboxId} IS NULL AND ${schools} AND ${holdsNoRole(params.now)})`;

export type DuePerson = {
  id: PersonId;
  schoolId: SchoolId;
  cause: RetentionCause;
  dueAt: Date;
} & { [Part in keyof PersonName]: string | null };

const columnsOfDue = {
  ...pick(p, "id", "firstFull", "firstCall", "last"),
  schoolId: sql`due.school_id`,
  cause: sql`due.cause`,
  dueAt: sql`due.due_at`,
};

type Position = { dueAt: Date | null; id: PersonId | null };
type DueQuery = Params & { schoolIds: readonly SchoolId[]; until: Date; limit: number } & {
  [Name in keyof Position as `after_${Name}`]: Position[Name];
};

const selectDue = makeFind<DuePerson, DueQuery>("retention.listDue")`
  SELECT ${fields<DuePerson>(columnsOfDue)}
  FROM ${(params) => dueAmong(params, { schools: sql`${s.id} = ANY (${params.schoolIds}::uuid[])` })} AS due
  JOIN ${p} ON ${p.id} = due.person_id
  WHERE due.due_at <= ${"until"}
    AND (${"after_id"}::uuid IS NULL OR (due.due_at, ${p.id}) > (${"after_dueAt"}::timestamptz, ${"after_id"}))
  ORDER BY due.due_at, ${p.id} LIMIT ${"limit"}`;

type Page = { schoolIds: readonly SchoolId[]; until: Date; limit: number; after?: Position | undefined };

/** The people whom the retention of these schools soft-deletes until a date, next ones first. */
export const listDue = (db: Queryable, params: Params, { after, ...page }: Page): Promise<DuePerson[]> =>
  selectDue(db, { ...params, ...page, after_dueAt: after?.dueAt ?? null, after_id: after?.id ?? null });

/** `people` are the active people of a home school; `due` is how many are due now, `later` until the other date. */
export type DueCounts = { schoolId: SchoolId; schoolName: string; people: number; due: number; later: number };

type CountQuery = Params & { schoolIds: readonly SchoolId[]; until: Date };

const countWhere = (where: Sql) => sql`(count(*) FILTER (WHERE ${where}))::int`;
const counted = table("person", "counted");

const selectCounts = makeFind<DueCounts, CountQuery>(
  (params) => sql`
  SELECT ${fields<DueCounts>({
    schoolId: s.id,
    schoolName: s.name,
    people: sql`(SELECT count(*)::int FROM ${a} JOIN ${counted} ON ${counted.id} = ${a.personId}
      WHERE ${a.schoolId} = ${s.id} AND ${counted.homeSchoolId} = ${s.id} AND ${counted.status} = 'ACTIVE')`,
    due: sql`coalesce(due.now, 0)`,
    later: sql`coalesce(due.later, 0)`,
  })}
  FROM ${s} LEFT JOIN (
    SELECT school_id, ${countWhere(sql`due_at <= ${params.now}`)} AS now, ${countWhere(sql`due_at > ${params.now}`)} AS later
    FROM ${dueAmong(params, { schools: sql`${s.id} = ANY (${params.schoolIds}::uuid[])` })} AS due_people
    WHERE due_at <= ${params.until} GROUP BY school_id) AS due ON due.school_id = ${s.id}
  WHERE ${s.id} = ANY (${params.schoolIds}::uuid[]) ORDER BY ${s.sortKey}, ${s.id}`,
  "retention.countDue",
);

export const countDue = (db: Queryable, params: Params, query: Omit<CountQuery, keyof Params>): Promise<DueCounts[]> =>
  selectCounts(db, { ...params, ...query });

const shownOfSome = 5;

const selectSome = makeFind<DuePerson & { count: number }, CountQuery>("retention.findSomeDue")`
  SELECT count(*) OVER ()::int AS count, ${fields<DuePerson>(columnsOfDue)}
  FROM ${(params) => dueAmong(params, { schools: sql`${s.id} = ANY (${params.schoolIds}::uuid[])` })} AS due
  JOIN ${p} ON ${p.id} = due.person_id
  WHERE due.due_at <= ${"until"} ORDER BY due.due_at, ${p.id} LIMIT ${shownOfSome}`;

/** How many are due until a date, and the first of them. */
export async function findSomeDue(
  db: Queryable,
  params: Params,
  query: Omit<CountQuery, keyof Params>,
): Promise<{ count: number; first: DuePerson[] }> {
  const page = await selectSome(db, { ...params, ...query });
  return { count: page[0]?.count ?? 0, first: page.map(({ count: _, ...due }) => due) };
}

type Due = { cause: RetentionCause; dueAt: Date };

const selectDueOf = makeFind<Due, Params & { personId: PersonId }>(
  (params) => sql`
  SELECT ${fields<Due>({ cause: sql`due.cause`, dueAt: sql`due.due_at` })}
  FROM ${dueAmong(params, {
    schools: sql`${s.id} = (SELECT ${counted.homeSchoolId} FROM ${counted} WHERE ${counted.id} = ${params.personId})`,
    who: sql`${p.id} = ${params.personId}`,
  })} AS due`,
  "retention.findDue",
);

/** When and why the retention soft-deletes a person; null if nothing says so. */
export async function findDue(db: Queryable, params: Params, personId: PersonId): Promise<Due | null> {
  const [due] = await selectDueOf(db, { ...params, personId });
  return due ?? null;
}
