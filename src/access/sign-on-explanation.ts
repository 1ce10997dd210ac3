import type { PersonId, PersonRole, SchoolId } from "../directory/index.ts";
import { sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import { fromSchoolsWithGrant, personIsInAudience } from "./visibility.ts";

type AllowedGroup = { id: string; name: string; isActive: boolean; isMember: boolean };

export type SchoolFacts = {
  id: SchoolId;
  name: string;
  audience: "NOBODY" | "EVERYBODY" | "ROLES" | "GROUPS" | null;
  roles: PersonRole[];
  groups: AllowedGroup[];
  letsIn: boolean;
};

export type PersonFacts = {
  id: PersonId;
  role: PersonRole;
  purgeAt: string | null;
  blockedAt: string | null;
  schools: SchoolFacts[];
};

const p = table("person", "p");
const s = table("school", "s");
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
