import type { GroupId, PersonId, PersonName, PersonRole, SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import { findRows, sql, statement, table, type Sql, type Value } from "../platform/sql.ts";
import type { ClientId } from "./token.ts";
import { fromShownGroupsOf } from "./visibility.ts";

type SubjectSchool = {
  id: SchoolId;
  name: string;
  officialId: string;
  location: { country: string; state: string };
  address: { address: string; addressAddition: string | null; city: string; zipCode: string };
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

const p = table("person", "p");
const a = table("affiliation", "a");
const s = table("school", "s");
const g = table("group", "g");

/** The `Subject` of a person and an app as one value, for statements that ask for more than it. */
export const subjectOf = (client: Value, personId: Value): Sql => sql`(
  SELECT json_build_object('role', ${p.role},
    'name', CASE WHEN ${p.last} IS NOT NULL
      THEN json_build_object('firstFull', ${p.firstFull}, 'firstCall', ${p.firstCall}, 'last', ${p.last}) END,
    'schools', (
      SELECT coalesce(json_agg(json_build_object('id', ${s.id}, 'name', ${s.name}, 'officialId', ${s.officialId},
        'location', json_build_object('country', ${s.country}, 'state', ${s.state}),
        'address', json_build_object('address', ${s.address}, 'addressAddition', ${s.addressAddition},
          'city', ${s.city}, 'zipCode', ${s.zipCode}),
        'schoolingLevel', ${s.schoolingLevel})), '[]')
      FROM ${a} JOIN ${s} ON ${s.id} = ${a.schoolId} WHERE ${a.personId} = ${p.id}),
    'groups', (
      SELECT
        coalesce(json_agg(json_build_object('id', ${g.id}, 'name', ${g.name}) ORDER BY ${g.sortKey}, ${g.id}), '[]')
      ${fromShownGroupsOf(client, p.id)}))
  FROM ${p} WHERE ${p.id} = ${personId})`;

type Pair = { clientId: ClientId; personId: PersonId };

const selectSubject = statement<Pair>(
  ({ clientId, personId }) => sql`SELECT ${subjectOf(clientId, personId)} AS subject`,
  "access.findSubject",
);

/** Null for a person who does not exist. */
export async function findSubject(db: Queryable, pair: Pair): Promise<Subject | null> {
  const [row] = await findRows<{ subject: Subject | null }, Pair>(db, selectSubject, pair);
  return row?.subject ?? null;
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
