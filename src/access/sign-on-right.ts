import type { StaffRoleName } from "../../generated/prisma/enums.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/database/sql.ts";
import { findRows, sql, statement, table, type Columns, type Sql, type Value } from "../platform/database/sql.ts";
import type { ClientId } from "./token.ts";
import { appIsSuspended } from "./suspension.ts";
import { fromSchoolsLettingIn } from "./visibility.ts";

/** `schools` let the person in; `staffRoles` let staff at no school into an admin app. At least one is not empty. */
export type SignOnRight =
  | {
      kind: "allowed";
      schools: { id: SchoolId; name: string }[];
      staffRoles: StaffRoleName[];
      isUser: boolean;
    }
  | { kind: "refused"; reason: "person_not_active" | "person_blocked" | "app_suspended" | "no_grant" };

export type SignOnFacts = {
  isActive: boolean;
  isBlocked: boolean;
  isSuspended: boolean;
  isUser: boolean;
  schools: { id: SchoolId; name: string }[];
  staffRoles: StaffRoleName[];
} | null;

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

const selectSignOnFacts = statement<{ clients: string[]; people: string[]; now: Date }>(
  ({ clients, people, now }) => sql`
  SELECT ${signOnFactsOf(sql`asked.client_id`, sql`asked.person_id`, now)} AS facts
  FROM unnest((SELECT ${clients}::text[]), (SELECT ${people}::uuid[]))
    WITH ORDINALITY AS asked (client_id, person_id, place)
  ORDER BY asked.place`,
  "access.listSignOnRights",
);

type Pair = { clientId: ClientId; personId: PersonId };

export async function findSignOnRight(db: Queryable, pair: Pair, now: Date): Promise<SignOnRight> {
  const [right] = await listSignOnRights(db, [pair], now);
  return right ?? { kind: "refused", reason: "person_not_active" };
}

export async function listSignOnRights(db: Queryable, pairs: readonly Pair[], now: Date): Promise<SignOnRight[]> {
  const values = { clients: pairs.map(({ clientId }) => clientId), people: pairs.map(({ personId }) => personId), now };
  const rows = await findRows<{ facts: SignOnFacts }, typeof values>(db, selectSignOnFacts, values);
  return rows.map(({ facts }) => decideSignOnRight(facts));
}

export function decideSignOnRight(facts: SignOnFacts): SignOnRight {
  if (!facts?.isActive) return { kind: "refused", reason: "person_not_active" };
  if (facts.isBlocked) return { kind: "refused", reason: "person_blocked" };
  if (facts.isSuspended) return { kind: "refused", reason: "app_suspended" };
  const { schools, staffRoles, isUser } = facts;
  const isAllowed = schools.length > 0 || staffRoles.length > 0;
  return isAllowed ? { kind: "allowed", schools, staffRoles, isUser } : { kind: "refused", reason: "no_grant" };
}
