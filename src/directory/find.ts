import type { Queryable } from "../platform/db.ts";
import type { GroupType } from "./group.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";
import type { PersonName, PersonRole } from "./person.ts";
import type { NewSchool } from "./school.ts";
import type { GroupStatus, PersonStatus } from "./transitions.ts";

/** How much of a list: `search` is a part of the name, in whatever case; `after` the last id of the part before. */
export type Part = { search?: string | undefined; limit: number; after?: string | undefined };

export type School = Required<NewSchool> & { id: SchoolId };

const schoolColumns = `
  id, name, official_id AS "officialId", schooling_level AS "schoolingLevel",
  json_build_object('address', address, 'addressAddition', address_addition, 'city', city, 'zipCode', zip_code) AS address,
  json_build_object('country', country, 'state', state) AS location`;

export async function findSchool(db: Queryable, schoolId: SchoolId): Promise<School | null> {
  const { rows } = await db.query<School>(`SELECT ${schoolColumns} FROM school WHERE id = $1`, [schoolId]);
  return rows[0] ?? null;
}

const cleanSearch = (search: string | undefined) => search?.normalize("NFC");
const contains = (column: string, parameter: string) =>
  `(${parameter}::text IS NULL OR position(lower(${parameter}) IN lower(${column})) > 0)`;
const follows = (table: string, parameter: string) =>
  `(${parameter}::uuid IS NULL OR (sort_key, id) > (SELECT sort_key, id FROM ${table} WHERE id = ${parameter}))`;

export async function listSchools(db: Queryable, { search, limit, after }: Part): Promise<School[]> {
  const { rows } = await db.query<School>(
    `SELECT ${schoolColumns} FROM school
     WHERE ${contains("name || ' ' || official_id", "$1")} AND ${follows("school", "$3")} ORDER BY sort_key, id LIMIT $2`,
    [cleanSearch(search), limit, after],
  );
  return rows;
}

export type Group = {
  id: GroupId;
  schoolId: SchoolId;
  name: string;
  type: GroupType;
  status: GroupStatus;
  sourceSystemIdentifier: string | null;
  members: number;
};

const groupColumns = `
  id, school_id AS "schoolId", name, type::text, status::text, source_system_identifier AS "sourceSystemIdentifier",
  (SELECT count(*)::int FROM membership m WHERE m.group_id = "group".id) AS members`;

export async function findGroup(db: Queryable, groupId: GroupId): Promise<Group | null> {
  const { rows } = await db.query<Group>(`SELECT ${groupColumns} FROM "group" WHERE id = $1`, [groupId]);
  return rows[0] ?? null;
}

/** The groups of a school, deleted ones too if `withDeleted`. */
export async function listGroups(
  db: Queryable,
  { schoolId, withDeleted, search, limit, after }: Part & { schoolId: SchoolId; withDeleted: boolean },
): Promise<Group[]> {
  const { rows } = await db.query<Group>(
    `SELECT ${groupColumns} FROM "group"
     WHERE school_id = $4 AND ($5 OR status = 'ACTIVE') AND ${contains("name", "$1")} AND ${follows('"group"', "$3")}
     ORDER BY sort_key, id LIMIT $2`,
    [cleanSearch(search), limit, after, schoolId, withDeleted],
  );
  return rows;
}

export type Person = {
  id: PersonId;
  role: PersonRole;
  status: PersonStatus;
  name: PersonName | null;
  sourceSystemIdentifier: string | null;
  softDeletedAt: Date | null;
  purgeAt: Date | null;
  /** Since when staff keep the person from signing in. */
  blockedAt: Date | null;
  homeSchoolId: SchoolId;
  schools: { id: SchoolId; name: string }[];
  groups: { id: GroupId; schoolId: SchoolId; name: string; status: GroupStatus; role: PersonRole }[];
};

const personColumns = `
  id, role::text, status::text, source_system_identifier AS "sourceSystemIdentifier", soft_deleted_at AS "softDeletedAt", purge_at AS "purgeAt", blocked_at AS "blockedAt",
  CASE WHEN last IS NOT NULL THEN json_build_object('firstFull', first_full, 'firstCall', first_call, 'last', last) END AS name,
  home_school_id AS "homeSchoolId",
  (SELECT json_agg(json_build_object('id', s.id, 'name', s.name) ORDER BY s.sort_key, s.id)
   FROM affiliation a JOIN school s ON s.id = a.school_id WHERE a.person_id = person.id) AS schools,
  (SELECT coalesce(json_agg(json_build_object('id', g.id, 'schoolId', g.school_id, 'name', g.name, 'status', g.status, 'role', m.role)
     ORDER BY g.sort_key, g.id), '[]')
   FROM membership m JOIN "group" g ON g.id = m.group_id WHERE m.person_id = person.id) AS groups`;

export async function findPerson(db: Queryable, personId: PersonId): Promise<Person | null> {
  const { rows } = await db.query<Person>(`SELECT ${personColumns} FROM person WHERE id = $1`, [personId]);
  return rows[0] ?? null;
}

export type PeopleOf = { schoolId: SchoolId; groupId?: GroupId | undefined; status?: PersonStatus | undefined };

/** The people at a school, of one of its groups and one status if these are given. */
export async function listPeople(
  db: Queryable,
  { schoolId, groupId, status, search, limit, after }: Part & PeopleOf,
): Promise<Person[]> {
  const { rows } = await db.query<Person>(
    `SELECT ${personColumns} FROM person
     WHERE EXISTS (SELECT FROM affiliation a WHERE a.person_id = person.id AND a.school_id = $4)
       AND ($5::uuid IS NULL OR EXISTS (SELECT FROM membership m WHERE m.person_id = person.id AND m.group_id = $5))
       AND ($6::person_status IS NULL OR status = $6)
       AND ${contains("concat_ws(' ', first_full, last, source_system_identifier)", "$1")} AND ${follows("person", "$3")}
     ORDER BY sort_key, id LIMIT $2`,
    [cleanSearch(search), limit, after, schoolId, groupId, status],
  );
  return rows;
}

/** When somebody was deleted for good; null for whoever was not. */
export async function findTombstone(db: Queryable, personId: PersonId): Promise<{ deletedAt: Date } | null> {
  const { rows } = await db.query<{ deletedAt: Date }>(
    `SELECT deleted_at AS "deletedAt" FROM tombstone WHERE person_id = $1`,
    [personId],
  );
  return rows[0] ?? null;
}
