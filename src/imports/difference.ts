import type { SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import type { ImportFormat, ImportMode } from "./formats/format.ts";

/** One school's part of an import. `schools` are all that the import speaks of. */
export type Part = {
  importId: string;
  schoolId: SchoolId;
  schools: readonly SchoolId[];
  format: ImportFormat;
  mode: ImportMode;
  schoolYear: string;
  now: Date;
};

/**
 * Works out what an import would do to one school, in temporary tables that go with the transaction:
 * import_person, import_group and import_membership, with `change` null for what stays.
 * Preview and import read the same tables, so that they cannot differ.
 */
export async function findDifference(tx: Queryable, part: Part): Promise<void> {
  await tx.query(`SET LOCAL statement_timeout = '60min'; SET LOCAL work_mem = '64MB'; SET LOCAL idle_in_transaction_session_timeout = '10min'`);
  await tx.query(`DROP TABLE IF EXISTS import_person, import_group, import_membership; ${createTables}`);
  await findPeople(tx, part);
  await findGroups(tx, part);
  if (part.mode === "DELTA") await addNamed(tx, part);
  await tx.query("ANALYZE import_person; ANALYZE import_group");
  await findMemberships(tx, part);
  await tx.query("ANALYZE import_membership");
}

const createTables = `
  CREATE TEMPORARY TABLE import_person (id uuid, source_id text, role person_role, first_full text, first_call text, last text, sort_key text,
    change text, joins bool NOT NULL DEFAULT false, leaves bool NOT NULL DEFAULT false, left_home uuid) ON COMMIT DROP;
  CREATE TEMPORARY TABLE import_group (id uuid, source_id text, name text, sort_key text, type group_type, change text, previous_source_id text) ON COMMIT DROP;
  CREATE TEMPORARY TABLE import_membership (group_id uuid, person_id uuid, role person_role, change text) ON COMMIT DROP`;

/** A UUIDv7 as platform/ids.ts makes it, one for each row. Shape: `now` is a parameter holding a timestamptz. */
export const newId = (now: string) => `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  PLACING substring(int8send((extract(epoch FROM ${now}::timestamptz) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid`;

async function findPeople(tx: Queryable, { importId, schoolId, schools, mode, now }: Part): Promise<void> {
  // Someone who comes from another school of the same files stays the same person.
  const found = `
    SELECT s.*, coalesce(here.id, there.id) AS id, coalesce(here.home_school_id, there.home_school_id) AS home
    FROM staged_person s
    LEFT JOIN person here ON here.home_school_id = s.home_school_id AND here.source_system_identifier = s.source_id
    LEFT JOIN person there ON here.id IS NULL AND cardinality($3::uuid[]) > 1 AND there.home_school_id = ANY ($3)
      AND there.source_system_identifier = s.source_id
    WHERE s.import_id = $1 AND s.school_id = $2`;
  await tx.query(
    `INSERT INTO import_person (id, source_id, role, first_full, first_call, last, sort_key, change, joins, left_home)
     SELECT DISTINCT ON (s.row) coalesce(p.id, CASE WHEN s.home_school_id = $2 AND NOT s.is_deleted THEN ${newId("$4")} END), s.source_id,
       s.role::person_role, s.first_full, s.first_call, s.last, s.sort_key,
       CASE WHEN s.home_school_id <> $2 THEN NULL
         WHEN s.is_deleted THEN CASE p.status WHEN 'ACTIVE' THEN 'removed' END
         WHEN p.id IS NULL THEN 'created'
         WHEN p.status = 'SOFT_DELETED' THEN 'restored'
         WHEN (p.role::text, p.first_full, p.first_call, p.last, p.home_school_id)
           IS DISTINCT FROM (s.role, s.first_full, s.first_call, s.last, $2) THEN 'changed' END,
       NOT s.is_deleted AND NOT EXISTS (SELECT FROM affiliation a WHERE a.person_id = p.id AND a.school_id = $2),
       CASE WHEN s.home_school_id = $2 AND NOT s.is_deleted AND p.home_school_id <> $2 THEN p.home_school_id END
     FROM (${found}) AS s LEFT JOIN person p ON p.id = s.id
     ORDER BY s.row`,
    [importId, schoolId, schools, now],
  );
  await tx.query("ANALYZE import_person");
  if (mode === "BULK") {
    await tx.query(
      `INSERT INTO import_person (id, source_id, role, first_full, first_call, last, sort_key, change)
       SELECT p.id, p.source_system_identifier, p.role, p.first_full, p.first_call, p.last, p.sort_key, 'removed' FROM person p
       WHERE p.home_school_id = $2 AND p.source_system_identifier IS NOT NULL AND p.status = 'ACTIVE'
         AND NOT EXISTS (SELECT FROM import_person i WHERE i.id = p.id)
         AND NOT (cardinality($3::uuid[]) > 1 AND EXISTS (
           SELECT FROM staged_person s WHERE s.import_id = $1 AND s.source_id = p.source_system_identifier AND s.school_id = s.home_school_id AND NOT s.is_deleted
             AND NOT EXISTS (SELECT FROM person other WHERE other.home_school_id = s.home_school_id AND other.source_system_identifier = s.source_id)))`,
      [importId, schoolId, schools],
    );
  }
  if (schools.length > 1) await findLeavers(tx, { importId, schoolId, schools });
}

/** Of whom the files speak, they say all schools that they speak of; so a guest who is not named here leaves. */
async function findLeavers(tx: Queryable, { importId, schoolId, schools }: Pick<Part, "importId" | "schoolId" | "schools">): Promise<void> {
  await tx.query(
    `INSERT INTO import_person (id, source_id, role, sort_key, leaves)
     SELECT p.id, p.source_system_identifier, p.role, p.sort_key, true FROM affiliation a JOIN person p ON p.id = a.person_id
     WHERE a.school_id = $2 AND p.home_school_id <> $2 AND p.home_school_id = ANY ($3)
       AND EXISTS (SELECT FROM staged_person s WHERE s.import_id = $1 AND s.source_id = p.source_system_identifier
         AND s.home_school_id = p.home_school_id AND s.school_id = s.home_school_id AND NOT s.is_deleted)
       AND NOT EXISTS (SELECT FROM import_person i WHERE i.id = p.id)`,
    [importId, schoolId, schools],
  );
}

async function findGroups(tx: Queryable, { importId, schoolId, mode, schoolYear, now }: Part): Promise<void> {
  // A group that goes on under a new id, unless it did so in an earlier import of the same school year.
  await tx.query(
    `WITH goes_on AS (
       SELECT s.row, g.id, g.source_system_identifier FROM staged_group s
       JOIN "group" g ON g.school_id = $2 AND g.source_system_identifier = s.previous_source_id
       WHERE s.import_id = $1 AND s.school_id = $2 AND NOT s.is_deleted AND s.previous_source_id <> s.source_id
         AND NOT EXISTS (SELECT FROM group_carry_over c WHERE c.school_id = $2 AND c.school_year = $3
           AND c.previous_source_id = s.previous_source_id AND c.source_id = s.source_id))
     INSERT INTO import_group (id, source_id, name, sort_key, type, change, previous_source_id)
     SELECT coalesce(o.id, g.id, ${newId("$4")}), s.source_id, s.name, s.sort_key, s.type::group_type,
       CASE WHEN s.is_deleted THEN CASE g.status WHEN 'ACTIVE' THEN 'removed' END
         WHEN o.id IS NOT NULL THEN 'carried_over'
         WHEN g.id IS NULL THEN 'created'
         WHEN g.status = 'DELETED' THEN 'restored'
         WHEN (g.name, g.type::text) IS DISTINCT FROM (s.name, s.type) THEN 'changed' END,
       o.source_system_identifier
     FROM staged_group s LEFT JOIN goes_on o ON o.row = s.row
     LEFT JOIN "group" g ON g.school_id = $2 AND g.source_system_identifier = s.source_id AND g.id NOT IN (SELECT id FROM goes_on)
     WHERE s.import_id = $1 AND s.school_id = $2 AND NOT (s.is_deleted AND g.id IS NULL)`,
    [importId, schoolId, schoolYear, now],
  );
  await tx.query("ANALYZE import_group");
  // Also a group whose id another one takes over ends, whole file or not.
  await tx.query(
    `INSERT INTO import_group (id, source_id, name, sort_key, type, change)
     SELECT g.id, g.source_system_identifier, g.name, g.sort_key, g.type, 'removed' FROM "group" g
     WHERE g.school_id = $1 AND g.status = 'ACTIVE' AND g.source_system_identifier IS NOT NULL
       AND ($2 OR g.source_system_identifier IN (SELECT source_id FROM import_group WHERE change = 'carried_over'))
       AND g.id NOT IN (SELECT id FROM import_group)`,
    [schoolId, mode === "BULK"],
  );
}

/** A delta may name people and groups that stay as they are. */
async function addNamed(tx: Queryable, { importId, schoolId }: Part): Promise<void> {
  const named = (column: string) => `(SELECT DISTINCT ${column} FROM staged_membership WHERE import_id = $1 AND school_id = $2)`;
  await tx.query(
    `INSERT INTO import_person (id, source_id, role, sort_key)
     SELECT DISTINCT ON (p.source_system_identifier) p.id, p.source_system_identifier, p.role, p.sort_key
     FROM ${named("person_source_id")} AS n JOIN person p ON p.source_system_identifier = n.person_source_id
     JOIN affiliation a ON a.person_id = p.id AND a.school_id = $2
     WHERE NOT EXISTS (SELECT FROM import_person i WHERE i.source_id = n.person_source_id)
     ORDER BY p.source_system_identifier, p.home_school_id <> $2, p.id`,
    [importId, schoolId],
  );
  await tx.query(
    `INSERT INTO import_group (id, source_id, name, sort_key, type)
     SELECT g.id, g.source_system_identifier, g.name, g.sort_key, g.type
     FROM ${named("group_source_id")} AS n JOIN "group" g ON g.school_id = $2 AND g.source_system_identifier = n.group_source_id
     WHERE NOT EXISTS (SELECT FROM import_group i WHERE i.id = g.id)`,
    [importId, schoolId],
  );
}

/** What the files say of a membership twice counts once, as the role that may do most: TEACHER, STUDENT, OTHER. */
async function findMemberships(tx: Queryable, { importId, schoolId, format, mode }: Part): Promise<void> {
  const staged = (isDeleted: boolean) => `
    SELECT g.id AS group_id, p.id AS person_id, max(coalesce(s.role, p.role::text)) AS role
    FROM staged_membership s
    JOIN import_group g ON g.source_id = s.group_source_id AND g.change IS DISTINCT FROM 'removed'
    JOIN import_person p ON p.source_id = s.person_source_id AND p.change IS DISTINCT FROM 'removed' AND p.id IS NOT NULL AND NOT p.leaves
    WHERE s.import_id = $1 AND s.school_id = $2 AND ${isDeleted ? "" : "NOT"} s.is_deleted GROUP BY 1, 2`;
  await tx.query(
    `INSERT INTO import_membership (group_id, person_id, role, change)
     SELECT w.group_id, w.person_id, w.role::person_role,
       CASE WHEN m.group_id IS NULL THEN 'created' WHEN m.role::text <> w.role THEN 'changed' END
     FROM (${staged(false)}) AS w LEFT JOIN membership m ON m.group_id = w.group_id AND m.person_id = w.person_id`,
    [importId, schoolId],
  );
  await tx.query("ANALYZE import_membership");
  const isKept = "EXISTS (SELECT FROM import_membership i WHERE i.group_id = m.group_id AND i.person_id = m.person_id)";
  if (mode === "DELTA" && format === "ONEROSTER") {
    await tx.query(
      `INSERT INTO import_membership (group_id, person_id, role, change)
       SELECT m.group_id, m.person_id, m.role, 'removed' FROM (${staged(true)}) AS w
       JOIN membership m ON m.group_id = w.group_id AND m.person_id = w.person_id WHERE NOT ${isKept}`,
      [importId, schoolId],
    );
    return;
  }
  // Whom the files name, they name with all groups; groups that were made here are none of theirs, and groups that end keep their members.
  const ofImport = mode === "BULK" ? "g.id IN (SELECT id FROM import_group WHERE change IS DISTINCT FROM 'removed')" : "g.source_system_identifier IS NOT NULL AND g.id NOT IN (SELECT id FROM import_group WHERE change = 'removed')";
  await tx.query(
    `INSERT INTO import_membership (group_id, person_id, role, change)
     SELECT m.group_id, m.person_id, m.role, 'removed' FROM import_person p
     JOIN membership m ON m.person_id = p.id AND m.school_id = $1 JOIN "group" g ON g.id = m.group_id
     WHERE p.change IS DISTINCT FROM 'removed' AND NOT p.leaves AND ${ofImport} AND NOT ${isKept}`,
    [schoolId],
  );
}
