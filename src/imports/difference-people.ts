import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Part } from "./difference.ts";

/** A UUIDv7 as platform/ids.ts makes it, one for each row. Shape: `now` is a parameter holding a timestamptz. */
export const newId = (now: string) => `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  PLACING substring(int8send((extract(epoch FROM ${now}::timestamptz) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid`;

const isHere = (person: string) =>
  `${person}.home_school_id = s.home_school_id AND ${person}.source_system_identifier = s.source_id`;
const isElsewhere = (
  person: string,
  schools: string,
) => `cardinality(${schools}::uuid[]) > 1 AND ${person}.source_id_is_shared
  AND ${person}.home_school_id = ANY (${schools}) AND ${person}.home_school_id <> s.home_school_id AND ${person}.source_system_identifier = s.source_id`;

/**
 * Selects the rows of people whose id fits two people of the directory, so that taking it for either could turn one into the other:
 * somebody at another of the files' schools whom files of several schools know by it, and somebody else at the home school.
 *
 * Shape: `$1` is the import; `schools` a parameter with all schools that it speaks of.
 */
export const selectAmbiguous = (schools: string, where = "true"): string => `
  SELECT s.row, s.line, s."column" AS at FROM staged_person s JOIN person there ON ${isElsewhere("there", schools)} LEFT JOIN person here ON ${isHere("here")}
  WHERE s.import_id = $1 AND s.school_id = s.home_school_id AND coalesce(here.source_id_is_shared, false) = false AND ${where}
  GROUP BY s.row, s.line, s."column", here.id HAVING count(*) > CASE WHEN here.id IS NULL THEN 1 ELSE 0 END`;

export async function findPeople(tx: Queryable, part: Part): Promise<void> {
  const { importId, schoolId, schools, mode, now } = part;
  if (schools.length > 1) await refuseAmbiguous(tx, part);
  // Someone who comes from another school of the same files stays the same person, if such files gave them their id.
  const found = `
    SELECT s.*, coalesce(here.id, there.id) AS id
    FROM staged_person s LEFT JOIN person here ON ${isHere("here")} LEFT JOIN person there ON here.id IS NULL AND ${isElsewhere("there", "$3")}
    WHERE s.import_id = $1 AND s.school_id = $2`;
  await tx.query(
    `INSERT INTO import_person (id, source_id, role, first_full, first_call, last, sort_key, change, joins, left_home, is_gone, is_staged)
     SELECT DISTINCT ON (s.row) coalesce(p.id, CASE WHEN s.home_school_id = $2 AND NOT s.is_deleted THEN ${newId("$4")} END), s.source_id,
       s.role::person_role, s.first_full, s.first_call, s.last, s.sort_key,
       CASE WHEN s.home_school_id <> $2 THEN NULL
         WHEN s.is_deleted THEN CASE p.status WHEN 'ACTIVE' THEN 'removed' END
         WHEN p.id IS NULL THEN 'created'
         WHEN p.status = 'SOFT_DELETED' THEN 'restored'
         WHEN (p.role::text, p.first_full, p.first_call, p.last, p.home_school_id)
           IS DISTINCT FROM (s.role, s.first_full, s.first_call, s.last, $2) THEN 'changed' END,
       NOT s.is_deleted AND NOT EXISTS (SELECT FROM affiliation a WHERE a.person_id = p.id AND a.school_id = $2),
       CASE WHEN s.home_school_id = $2 AND NOT s.is_deleted AND p.home_school_id <> $2 THEN p.home_school_id END,
       s.is_deleted, true
     FROM (${found}) AS s LEFT JOIN person p ON p.id = s.id
     ORDER BY s.row`,
    [importId, schoolId, schools, now],
  );
  await tx.query("ANALYZE import_person");
  if (mode === "BULK") await findMissing(tx, part);
  await findNextHomes(tx, part);
  if (schools.length > 1) await findLeavers(tx, part);
}

async function refuseAmbiguous(tx: Queryable, { importId, schoolId, schools }: Part): Promise<void> {
  const { rowCount } = await tx.query(`${selectAmbiguous("$2", "s.school_id = $3")} LIMIT 1`, [
    importId,
    schools,
    schoolId,
  ]);
  if (rowCount !== 0)
    throw new AppError(
      "conflict",
      "import_outdated",
      "Since the preview, an id of the import has come to fit two people. Preview the file again.",
    );
}

/** Whom a whole file does not name is removed, unless another school's part of it takes them home. */
async function findMissing(tx: Queryable, { importId, schoolId, schools }: Part): Promise<void> {
  await tx.query(
    `INSERT INTO import_person (id, source_id, role, first_full, first_call, last, sort_key, change, is_gone)
     SELECT p.id, p.source_system_identifier, p.role, p.first_full, p.first_call, p.last, p.sort_key, 'removed', true FROM person p
     WHERE p.home_school_id = $2 AND p.source_system_identifier IS NOT NULL AND p.status = 'ACTIVE'
       AND NOT EXISTS (SELECT FROM import_person i WHERE i.id = p.id)
       AND NOT (cardinality($3::uuid[]) > 1 AND p.source_id_is_shared AND EXISTS (
         SELECT FROM staged_person s WHERE s.import_id = $1 AND s.source_id = p.source_system_identifier AND s.school_id = s.home_school_id AND NOT s.is_deleted
           AND NOT EXISTS (SELECT FROM person other WHERE other.home_school_id = s.home_school_id AND other.source_system_identifier = s.source_id)))`,
    [importId, schoolId, schools],
  );
}

/** Who is also at a school that the files do not speak of is not removed: that school becomes home, the longest of several. */
async function findNextHomes(tx: Queryable, { schools }: Part): Promise<void> {
  await tx.query(
    `UPDATE import_person i SET change = NULL, leaves = true, next_home = other.school_id
     FROM (SELECT DISTINCT ON (a.person_id) a.person_id, a.school_id FROM import_person gone JOIN affiliation a ON a.person_id = gone.id
       WHERE gone.change = 'removed' AND a.school_id NOT IN (SELECT unnest($1::uuid[])) ORDER BY a.person_id, a.id) AS other
     WHERE i.id = other.person_id AND i.change = 'removed'`,
    [schools],
  );
}

/** Of whom the files speak, they say all schools that they speak of; so a guest who is not named here leaves. */
async function findLeavers(tx: Queryable, { importId, schoolId, schools }: Part): Promise<void> {
  await tx.query(
    `INSERT INTO import_person (id, source_id, role, sort_key, leaves, is_gone)
     SELECT p.id, p.source_system_identifier, p.role, p.sort_key, true, true FROM affiliation a JOIN person p ON p.id = a.person_id
     WHERE a.school_id = $2 AND p.home_school_id <> $2 AND p.home_school_id = ANY ($3)
       AND EXISTS (SELECT FROM staged_person s WHERE s.import_id = $1 AND s.source_id = p.source_system_identifier
         AND s.home_school_id = p.home_school_id AND s.school_id = s.home_school_id AND NOT s.is_deleted)
       AND NOT EXISTS (SELECT FROM import_person i WHERE i.id = p.id)`,
    [importId, schoolId, schools],
  );
}
