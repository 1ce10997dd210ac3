import type { Queryable } from "../platform/db.ts";
import { newId } from "./difference-people.ts";
import type { Part } from "./difference.ts";

export async function findGroups(tx: Queryable, { importId, schoolId, mode, schoolYear, now }: Part): Promise<void> {
  // A group that goes on under a new id, unless it did so in an earlier import of the same school year.
  await tx.query(
    `WITH goes_on AS (
       SELECT s.row, g.id, g.source_system_identifier FROM staged_group s
       JOIN "group" g ON g.school_id = $2 AND g.source_system_identifier = s.previous_source_id
       WHERE s.import_id = $1 AND s.school_id = $2 AND NOT s.is_deleted AND s.previous_source_id <> s.source_id
         AND NOT EXISTS (SELECT FROM group_carry_over c WHERE c.school_id = $2 AND c.school_year = $3
           AND c.previous_source_id = s.previous_source_id AND c.source_id = s.source_id))
     INSERT INTO import_group (id, source_id, name, sort_key, type, change, previous_source_id, is_gone)
     SELECT coalesce(o.id, g.id, ${newId("$4")}), s.source_id, s.name, s.sort_key, s.type::group_type,
       CASE WHEN s.is_deleted THEN CASE g.status WHEN 'ACTIVE' THEN 'removed' END
         WHEN o.id IS NOT NULL THEN 'carried_over'
         WHEN g.id IS NULL THEN 'created'
         WHEN g.status = 'DELETED' THEN 'restored'
         WHEN (g.name, g.type::text) IS DISTINCT FROM (s.name, s.type) THEN 'changed' END,
       o.source_system_identifier, s.is_deleted
     FROM staged_group s LEFT JOIN goes_on o ON o.row = s.row
     LEFT JOIN "group" g ON g.school_id = $2 AND g.source_system_identifier = s.source_id AND g.id NOT IN (SELECT id FROM goes_on)
     WHERE s.import_id = $1 AND s.school_id = $2 AND NOT (s.is_deleted AND g.id IS NULL)`,
    [importId, schoolId, schoolYear, now],
  );
  await tx.query("ANALYZE import_group");
  // Also a group whose id another one takes over ends, whole file or not.
  await tx.query(
    `INSERT INTO import_group (id, source_id, name, sort_key, type, change, is_gone)
     SELECT g.id, g.source_system_identifier, g.name, g.sort_key, g.type, 'removed', true FROM "group" g
     WHERE g.school_id = $1 AND g.status = 'ACTIVE' AND g.source_system_identifier IS NOT NULL
       AND ($2 OR g.source_system_identifier IN (SELECT source_id FROM import_group WHERE change = 'carried_over'))
       AND g.id NOT IN (SELECT id FROM import_group)`,
    [schoolId, mode === "BULK"],
  );
}

/**
 * Whom an id in a membership of a delta means, if the files do not name them: who is at the school and has the id from its own files,
 * or from files of several schools. What a guest is called at home is no id of this school.
 */
export const isNamedAt = (person: string, schoolId: string): string =>
  `(${person}.home_school_id = ${schoolId} OR ${person}.source_id_is_shared)`;

/** A delta may name people and groups that stay as they are. */
export async function addNamed(tx: Queryable, { importId, schoolId }: Part): Promise<void> {
  const named = (column: string) =>
    `(SELECT DISTINCT ${column} FROM staged_membership WHERE import_id = $1 AND school_id = $2)`;
  await tx.query(
    `INSERT INTO import_person (id, source_id, role, sort_key)
     SELECT DISTINCT ON (p.source_system_identifier) p.id, p.source_system_identifier, p.role, p.sort_key
     FROM ${named("person_source_id")} AS n JOIN person p ON p.source_system_identifier = n.person_source_id AND ${isNamedAt("p", "$2")}
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
export async function findMemberships(tx: Queryable, { importId, schoolId, format, mode }: Part): Promise<void> {
  const staged = (isDeleted: boolean) => `
    SELECT g.id AS group_id, p.id AS person_id, max(coalesce(s.role, p.role::text)) AS role
    FROM staged_membership s
    JOIN import_group g ON g.source_id = s.group_source_id AND NOT g.is_gone
    JOIN import_person p ON p.source_id = s.person_source_id AND NOT p.is_gone AND p.id IS NOT NULL
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
  const ofImport =
    mode === "BULK"
      ? "g.id IN (SELECT id FROM import_group WHERE NOT is_gone)"
      : "g.source_system_identifier IS NOT NULL AND g.id NOT IN (SELECT id FROM import_group WHERE is_gone)";
  await tx.query(
    `INSERT INTO import_membership (group_id, person_id, role, change)
     SELECT m.group_id, m.person_id, m.role, 'removed' FROM import_person p
     JOIN membership m ON m.person_id = p.id AND m.school_id = $1 JOIN "group" g ON g.id = m.group_id
     WHERE NOT p.is_gone AND ${ofImport} AND NOT ${isKept}`,
    [schoolId],
  );
}
