import { fields, makeFind, sql, table, type Queryable, type Sql } from "../platform/database/sql.ts";
import type { GroupId } from "./ids.ts";

/** `IMPOSSIBLE`: no password and no valid card; `NEVER`: not signed in yet. Both of active people only. */
export type SignInState = "IMPOSSIBLE" | "NEVER";

type PersonColumns = { id: Sql; status: Sql; homeSchoolId: Sql };

const c = table("credential", "login");
const card = table("loginCard", "usable_card");
const settings = table("cardSettings", "usable_at");
const role = table("staffRole", "held");
const signIn = table("signIn", "signed_in");
const device = table("signInPlace", "known_device");

const isActive = (p: PersonColumns): Sql => sql`${p.status} = 'ACTIVE'`;

// Cards do not sign in staff, nor anybody at a school that has switched cards off.
const hasUsableCard = (p: PersonColumns): Sql => sql`EXISTS (
  SELECT FROM ${card} JOIN ${settings} ON ${settings.schoolId} = ${card.schoolId}
  WHERE ${card.personId} = ${p.id} AND ${card.schoolId} = ${p.homeSchoolId} AND ${card.revokedAt} IS NULL
    AND ${settings.enabled} AND NOT EXISTS (SELECT FROM ${role}
      WHERE ${role.personId} = ${p.id} AND (${role.endsAt} IS NULL OR ${role.endsAt} > now())))`;

/** SQL condition: the person has a user name, and a password or a card that their home school accepts. */
export const hasWayToSignIn = (p: PersonColumns): Sql => sql`EXISTS (
  SELECT FROM ${c} WHERE ${c.personId} = ${p.id} AND (${c.passwordHash} IS NOT NULL OR ${hasUsableCard(p)}))`;

/** SQL conditions, for the list of people and for the numbers of it. */
export const isInSignInState: Record<SignInState, (p: PersonColumns) => Sql> = {
  IMPOSSIBLE: (p) => sql`(${isActive(p)} AND NOT ${hasWayToSignIn(p)})`,
  NEVER: (p) => sql`(${isActive(p)}
    AND NOT EXISTS (SELECT FROM ${signIn} WHERE ${signIn.personId} = ${p.id})
    AND NOT EXISTS (SELECT FROM ${device} WHERE ${device.personId} = ${p.id})
    AND NOT EXISTS (SELECT FROM ${card} WHERE ${card.personId} = ${p.id} AND ${card.lastUsedAt} IS NOT NULL)
    AND NOT EXISTS (SELECT FROM ${c} WHERE ${c.personId} = ${p.id} AND ${c.hasSignedIn}))`,
};

type SignInCounts = { students: number; neverSignedIn: number; withoutLogin: number };

const g = table("group", "g");
const m = table("membership", "m");
const p = table("person", "p");

// Guests get logins and passwords from their home school.
const isAtHome = sql`${p.homeSchoolId} = ${g.schoolId}`;

const listCounts = makeFind<SignInCounts & { id: GroupId }, { groupIds: GroupId[] }>()`
  SELECT ${fields<SignInCounts & { id: GroupId }>({
    id: g.id,
    students: sql`count(*)::int`,
    neverSignedIn: sql`(count(*) FILTER (WHERE ${isAtHome} AND ${isInSignInState.NEVER(p)}))::int`,
    withoutLogin: sql`(count(*) FILTER (WHERE ${isAtHome} AND ${isInSignInState.IMPOSSIBLE(p)}))::int`,
  })}
  FROM ${g} JOIN ${m} ON ${m.groupId} = ${g.id} JOIN ${p} ON ${p.id} = ${m.personId}
  WHERE ${g.id} = ANY (${"groupIds"}::uuid[]) AND ${p.status} = 'ACTIVE' AND ${p.role} = 'STUDENT'
  GROUP BY ${g.id}`;

/** Counts the active pupils of groups, as `listPeople` finds them. A group without any is missing. */
export async function countSignIns(db: Queryable, groupIds: GroupId[]): Promise<Map<GroupId, SignInCounts>> {
  return new Map((await listCounts(db, { groupIds })).map(({ id, ...counts }) => [id, counts]));
}
