import type { GroupId, PersonId, PersonName, PersonRole, SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import type { ClientId } from "./token.ts";
import { fromShownGroupsOf, type Sql } from "./visibility.ts";

type SubjectSchool = {
  id: SchoolId;
  name: string;
  officialId: string;
  location: { country: string; state: string };
  schoolingLevel: string | null;
};

/** What an ID token or userinfo can say of a person; which of it is said depends on the scopes. */
export type SubjectClaims = {
  name: PersonName | null;
  role: PersonRole;
  /** The school chosen at sign-on; null when none was given or the person has left it. */
  school: SubjectSchool | null;
  groups: { id: GroupId; name: string }[];
};

/** A person as an app may know them, whichever of their schools the sign-on is for. */
export type Subject = Omit<SubjectClaims, "school"> & { schools: SubjectSchool[] };

/** The `Subject` of a person and an app as one value, for statements that ask for more than it. */
export const subjectOf = (client: Sql, personId: Sql): Sql => `(
  SELECT json_build_object('role', p.role,
    'name', CASE WHEN p.last IS NOT NULL
      THEN json_build_object('firstFull', p.first_full, 'firstCall', p.first_call, 'last', p.last) END,
    'schools', (
      SELECT coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'officialId', s.official_id,
        'location', json_build_object('country', s.country, 'state', s.state), 'schoolingLevel', s.schooling_level)), '[]')
      FROM affiliation a JOIN school s ON s.id = a.school_id WHERE a.person_id = p.id),
    'groups', (
      SELECT coalesce(json_agg(json_build_object('id', g.id, 'name', g.name) ORDER BY g.sort_key, g.id), '[]')
      ${fromShownGroupsOf(client, "p.id")}))
  FROM person p WHERE p.id = ${personId})`;

type Pair = { clientId: ClientId; personId: PersonId };

/** Null for a person who does not exist. */
export async function findSubject(db: Queryable, { clientId, personId }: Pair): Promise<Subject | null> {
  const { rows } = await db.query<{ subject: Subject | null }>({
    name: "access.findSubject",
    text: `SELECT ${subjectOf("$1", "$2")} AS subject`,
    values: [clientId, personId],
  });
  return rows[0]?.subject ?? null;
}

export function claimsAt({ schools, ...subject }: Subject, schoolId: SchoolId | null): SubjectClaims {
  return { ...subject, school: schools.find(({ id }) => id === schoolId) ?? null };
}

/** Null for a person who does not exist. */
export async function findSubjectClaims(
  db: Queryable,
  { schoolId, ...pair }: Pair & { schoolId: SchoolId | null },
): Promise<SubjectClaims | null> {
  const subject = await findSubject(db, pair);
  return subject && claimsAt(subject, schoolId);
}
