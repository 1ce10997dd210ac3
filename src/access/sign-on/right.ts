import type { StaffRoleName } from "../../../generated/prisma/enums.ts";
import type { PersonId, PersonRole, SchoolId } from "../../directory/index.ts";
import { makeFind, sql, table } from "../../platform/database/sql.ts";
import type { Columns, Queryable, Sql, Value } from "../../platform/database/sql.ts";
import { appIsSuspended } from "../apps/app.ts";
import type { GrantSettings } from "../grants/grant.ts";
import type { ClientId } from "../token.ts";
import { fromSchoolsLettingIn, fromSchoolsWithGrant, personIsInAudience } from "../visibility.ts";

/** `schools` let the person in; `staffRoles` let staff at no school into an admin app. At least one is not empty. */
export type SignOnRight =
  | { kind: "allowed"; schools: { id: SchoolId; name: string }[]; staffRoles: StaffRoleName[]; isUser: boolean }
  | { kind: "refused"; reason: "person_not_active" | "person_blocked" | "app_suspended" | "no_grant" };

type Allowed = Omit<Extract<SignOnRight, { kind: "allowed" }>, "kind">;

export type SignOnFacts = (Allowed & { isActive: boolean; isBlocked: boolean; isSuspended: boolean }) | null;

const p = table("person", "p");
const s = table("school", "s");
const earlier = table("signIn", "earlier");
const role = table("staffRole", "role");
const adminApp = table("app", "admin_app");

type Person = Columns<"id" | "homeSchoolId">;

/** FROM and WHERE, binding `role`: of staff at no school in an admin app, of all staff in the command line. */
const fromStaffRoles = (client: Value, person: Person, now: Value): Sql => sql`
  FROM ${role} WHERE (${person.homeSchoolId} IS NULL OR ${client} = 'schultor-cli') AND ${role.personId} = ${person.id}
    AND (${role.endsAt} IS NULL OR ${role.endsAt} > ${now})
    AND EXISTS (SELECT FROM ${adminApp}
      WHERE ${adminApp.clientId} = ${client} AND ${adminApp.scopes} && ARRAY['admin:read', 'admin:write'])`;

export const personWorksAsStaff = (client: Value, person: Person & Columns<"status">, now: Value): Sql =>
  sql`(${person.status} = 'ACTIVE' AND EXISTS (SELECT ${fromStaffRoles(client, person, now)}))`;

export const signOnFactsOf = (client: Value, personId: Value, now: Value): Sql => sql`(
  SELECT json_build_object('isActive', ${p.status} = 'ACTIVE', 'isBlocked', ${p.blockedAt} IS NOT NULL,
    'isSuspended', ${appIsSuspended(client)},
    'isUser', EXISTS (SELECT FROM ${earlier} WHERE ${earlier.clientId} = ${client} AND ${earlier.personId} = ${p.id}),
    'schools', (
    SELECT coalesce(json_agg(json_build_object('id', ${s.id}, 'name', ${s.name}) ORDER BY ${s.sortKey}, ${s.id}), '[]')
    FROM ${s} JOIN (SELECT v_at.school_id ${fromSchoolsLettingIn(client, p)}) through ON through.school_id = ${s.id}),
    'staffRoles', (
    SELECT coalesce(json_agg(DISTINCT ${role.role}), '[]') ${fromStaffRoles(client, p, now)}))
  FROM ${p} WHERE ${p.id} = ${personId})`;

const listSignOnFacts = makeFind<{ facts: SignOnFacts }, { clients: string[]; people: string[]; now: Date }>(
  "access.listSignOnRights",
)`
  SELECT ${({ now }) => signOnFactsOf(sql`pair.client_id`, sql`pair.person_id`, now)} AS facts
  FROM unnest((SELECT ${"clients"}::text[]), (SELECT ${"people"}::uuid[]))
    WITH ORDINALITY AS pair (client_id, person_id, place)
  ORDER BY pair.place`;

type Pair = { clientId: ClientId; personId: PersonId };

export async function findSignOnRight(db: Queryable, pair: Pair, now: Date): Promise<SignOnRight> {
  const [right] = await listSignOnRights(db, [pair], now);
  return right ?? { kind: "refused", reason: "person_not_active" };
}

export async function listSignOnRights(db: Queryable, pairs: readonly Pair[], now: Date): Promise<SignOnRight[]> {
  const [clients, people] = [pairs.map(({ clientId }) => clientId), pairs.map(({ personId }) => personId)];
  return (await listSignOnFacts(db, { clients, people, now })).map(({ facts }) => decideSignOnRight(facts));
}

export function decideSignOnRight(facts: SignOnFacts): SignOnRight {
  if (!facts?.isActive) return { kind: "refused", reason: "person_not_active" };
  if (facts.isBlocked) return { kind: "refused", reason: "person_blocked" };
  if (facts.isSuspended) return { kind: "refused", reason: "app_suspended" };
  const { schools, staffRoles, isUser } = facts;
  const isAllowed = schools.length > 0 || staffRoles.length > 0;
  return isAllowed ? { kind: "allowed", schools, staffRoles, isUser } : { kind: "refused", reason: "no_grant" };
}

export type SchoolFacts = {
  id: SchoolId;
  name: string;
  audience: GrantSettings["signOn"]["kind"] | null;
  roles: PersonRole[];
  groups: { id: string; name: string; isActive: boolean; isMember: boolean }[];
  letsIn: boolean;
};

export type PersonFacts = {
  id: PersonId;
  role: PersonRole;
  purgeAt: string | null;
  blockedAt: string | null;
  schools: SchoolFacts[];
};

const grant = table("grant", "v_grant");
const at = table("affiliation", "v_at");
const allowed = table("grantSignOnGroup", "allowed");
const g = table("group", "g");
const m = table("membership", "m");

const allowedGroups = (client: Value): Sql => sql`(
  SELECT coalesce(json_agg(json_build_object('id', ${g.id}, 'name', ${g.name}, 'isActive', ${g.status} = 'ACTIVE',
    'isMember', EXISTS (SELECT FROM ${m} WHERE ${m.groupId} = ${g.id} AND ${m.personId} = ${p.id}))
    ORDER BY ${g.naturalKey}, ${g.id}), '[]')
  FROM ${allowed} JOIN ${g} ON ${g.id} = ${allowed.groupId}
  WHERE ${allowed.clientId} = ${client} AND ${allowed.schoolId} = ${at.schoolId})`;

/** The `PersonFacts` as one value; `letsIn` follows the rule of `signOnFactsOf`. */
export const personFactsOf = (client: Value, personId: Value): Sql => sql`(
  SELECT json_build_object('id', ${p.id}, 'role', ${p.role}, 'purgeAt', ${p.purgeAt}, 'blockedAt', ${p.blockedAt},
    'schools', (
    SELECT coalesce(json_agg(json_build_object('id', ${s.id}, 'name', ${s.name}, 'audience', found.audience,
      'roles', coalesce(found.roles, '[]'), 'groups', found.groups, 'letsIn', found.lets_in)
      ORDER BY ${s.sortKey}, ${s.id}), '[]')
    FROM (
      SELECT ${at.schoolId} AS school_id, ${grant.signOnAudience} AS audience, to_json(${grant.signOnRoles}) AS roles,
        ${allowedGroups(client)} AS groups, coalesce(${personIsInAudience(client, p)}, false) AS lets_in
      ${fromSchoolsWithGrant(client, p)}) AS found
    JOIN ${s} ON ${s.id} = found.school_id))
  FROM ${p} WHERE ${p.id} = ${personId})`;
