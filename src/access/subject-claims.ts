import type { GroupId, PersonId, PersonName, PersonRole, SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import type { ClientId } from "./token.ts";
import { fromShownGroupsOf } from "./visibility.ts";

/** What an ID token or userinfo can say of a person; which of it is said depends on the scopes. */
export type SubjectClaims = {
  name: PersonName | null;
  role: PersonRole;
  /** The school chosen at sign-on; null when none was given or the person has left it. */
  school: {
    id: SchoolId;
    name: string;
    officialId: string;
    location: { country: string; state: string };
    schoolingLevel: string | null;
  } | null;
  groups: { id: GroupId; name: string }[];
};

export const selectSubjectClaims = `
  SELECT p.role::text,
    CASE WHEN p.last IS NOT NULL
      THEN json_build_object('firstFull', p.first_full, 'firstCall', p.first_call, 'last', p.last) END AS name,
    (SELECT json_build_object('id', s.id, 'name', s.name, 'officialId', s.official_id,
       'location', json_build_object('country', s.country, 'state', s.state), 'schoolingLevel', s.schooling_level)
     FROM affiliation a JOIN school s ON s.id = a.school_id
     WHERE a.person_id = p.id AND a.school_id = $3) AS school,
    (SELECT coalesce(json_agg(json_build_object('id', g.id, 'name', g.name) ORDER BY g.sort_key, g.id), '[]')
     ${fromShownGroupsOf("$1", "p.id")}) AS groups
  FROM person p WHERE p.id = $2`;

/** Null for a person who does not exist. */
export async function findSubjectClaims(
  db: Queryable,
  { clientId, personId, schoolId }: { clientId: ClientId; personId: PersonId; schoolId: SchoolId | null },
): Promise<SubjectClaims | null> {
  const { rows } = await db.query<SubjectClaims>({
    name: "access.findSubjectClaims",
    text: selectSubjectClaims,
    values: [clientId, personId, schoolId],
  });
  return rows[0] ?? null;
}
