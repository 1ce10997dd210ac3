import type { SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import { isNamedAt } from "./difference-groups.ts";
import { selectAmbiguous } from "./difference-people.ts";
import { maxFaults } from "./staging.ts";
import type { Places, Read } from "./formats/format.ts";

/** Shape: `$1` in `from` is the import, `$6` the first of `values`. */
type Found = {
  code: string;
  message: string;
  file: string;
  field: string | undefined;
  from: string;
  values?: unknown[];
};

/**
 * Looks for what only all rows together can show. Shape: faults are written as those of reading, until `maxFaults` are kept; answers
 * how many there are, those of reading included. With more than are kept not all rows are staged, so no more are looked for.
 */
export async function checkStaged(
  tx: Queryable,
  importId: string,
  { mode, places, schools }: Read,
  readFaults: number,
): Promise<number> {
  let faults = readFaults;
  if (faults > maxFaults) return faults;
  for (const { from, file, field, code, message, values = [] } of [
    ...roleFaults(places),
    ...faultsOf(places, mode === "DELTA"),
    ...ambiguous(places, schools),
  ]) {
    const { rows } = await tx.query<{ count: number }>(
      `WITH found AS MATERIALIZED (SELECT found.*, row_number() OVER (ORDER BY found.row) AS n, ${message} AS message FROM (${from}) AS found),
       kept AS (INSERT INTO import_error (import_id, row, file, line, "column", field, code, message)
         SELECT $1, n + (SELECT coalesce(max(e.row), 0) FROM import_error e WHERE e.import_id = $1), $2, line, at, $3, $4, message FROM found WHERE n <= $5)
       SELECT count(*)::int AS count FROM found`,
      [importId, file, field, code, Math.max(0, maxFaults - faults), ...values],
    );
    faults += rows[0]!.count;
    if (code === "role_missing") await spreadRoles(tx, importId, [...schools]);
  }
  return faults;
}

const person = `staged_person p WHERE p.import_id = $1`;
const isHome = (p: string) => `${p}.school_id IS NOT DISTINCT FROM ${p}.home_school_id`;
const hasRole = (p: string, also = "") =>
  `EXISTS (SELECT FROM staged_role r WHERE r.import_id = $1 AND r.person_source_id = ${p}.source_id ${also})`;
const text = (message: string) => `'${message}'`;

/** Roles in a file of their own belong to users of the same archive, and every user has one. */
function roleFaults({ role, person: { file, person: field } }: Places): Found[] {
  const ofUser = { file, field, code: "role_missing", message: text("The user has no role in roles.csv.") };
  return [
    {
      ...{
        code: "unknown_person",
        file: role.file,
        field: role.person,
        message: text("The user is not in users.csv."),
      },
      from: `SELECT r.row, r.line, r."column" AS at FROM staged_role r
        WHERE r.import_id = $1 AND NOT EXISTS (SELECT FROM staged_person p WHERE p.import_id = $1 AND p.source_id = r.person_source_id)`,
    },
    {
      ...ofUser,
      from: `SELECT p.row, p.line, p."column" AS at FROM ${person} AND p.home_school_id IS NULL AND NOT p.is_deleted
        AND p.role IS NULL AND NOT ${hasRole("p", "AND NOT r.is_deleted")}
        AND NOT EXISTS (SELECT FROM import_error e WHERE e.import_id = $1 AND e.file = $2 AND e.line = p.line)`,
    },
  ];
}

/** Writes the roles of their own file to the people: the primary one, else the first, is that of the home school. */
async function spreadRoles(tx: Queryable, importId: string, schools: readonly SchoolId[]): Promise<void> {
  await tx.query(
    `UPDATE staged_person p SET school_id = c.school_id, home_school_id = c.school_id, role = c.role
     FROM (SELECT DISTINCT ON (person_source_id) person_source_id, school_id, role FROM staged_role
       WHERE import_id = $1 AND school_id IS NOT NULL AND NOT is_deleted ORDER BY person_source_id, is_primary DESC, row) AS c
     WHERE p.import_id = $1 AND p.source_id = c.person_source_id AND p.home_school_id IS NULL`,
    [importId],
  );
  await tx.query(
    `INSERT INTO staged_person (import_id, row, line, "column", source_id, school_id, home_school_id, role, first_full, first_call, last, sort_key, is_deleted)
     SELECT DISTINCT ON (r.person_source_id, r.school_id) $1, r.row, p.line, p."column", p.source_id, r.school_id, p.home_school_id,
       p.role, p.first_full, p.first_call, p.last, p.sort_key, p.is_deleted
     FROM staged_role r JOIN staged_person p ON p.import_id = $1 AND p.source_id = r.person_source_id AND p.home_school_id <> r.school_id
     WHERE r.import_id = $1 AND NOT r.is_deleted ORDER BY r.person_source_id, r.school_id, r.row`,
    [importId],
  );
  // Whoever is to be deleted comes without a role; there must be exactly one such person.
  await tx.query(
    `UPDATE staged_person p SET school_id = c.home_school_id, home_school_id = c.home_school_id
     FROM (SELECT source_system_identifier AS source_id, min(home_school_id::text)::uuid AS home_school_id FROM person
       WHERE home_school_id = ANY ($2::uuid[]) AND (source_id_is_shared OR cardinality($2) = 1) GROUP BY 1 HAVING count(*) = 1) AS c
     WHERE p.import_id = $1 AND p.home_school_id IS NULL AND p.is_deleted AND p.source_id = c.source_id`,
    [importId, schools],
  );
}

function faultsOf({ person: ofPerson, group: ofGroup, membership: ofMembership }: Places, isDelta: boolean): Found[] {
  const { file } = ofMembership;
  const [toPerson, toGroup] = [ofMembership.person, ofMembership.group ?? ofGroup.group];
  const inDirectory = (sql: string) => (isDelta ? `AND NOT EXISTS (${sql})` : "");
  const membership = `staged_membership m WHERE m.import_id = $1 AND NOT m.is_deleted`;
  return [
    {
      ...{
        code: "id_twice",
        file: ofPerson.file,
        field: ofPerson.person,
        message: "'The id stands in line ' || found.first || ' already.'",
      },
      from: twice("staged_person", "source_id", `AND s.source_id <> '' AND ${isHome("s")}`),
    },
    {
      ...{
        code: "id_twice",
        file: ofGroup.file,
        field: ofGroup.group,
        message: "'The id stands in line ' || found.first || ' already.'",
      },
      from: twice("staged_group", "source_id", "AND s.source_id <> ''"),
    },
    {
      ...{
        code: "carried_over_twice",
        file: ofGroup.file,
        field: ofGroup.group,
        message: "'The group in line ' || found.first || ' goes on from the same group.'",
      },
      from: twice("staged_group", "school_id, previous_source_id", "AND s.previous_source_id IS NOT NULL"),
    },
    {
      ...{
        code: "unknown_person",
        file,
        field: toPerson,
        message: text("There is no such person in the files or at the school."),
      },
      from: `SELECT m.row, m.line, m.person_column AS at FROM ${membership} AND m.person_source_id <> ''
        AND NOT EXISTS (SELECT FROM staged_person p WHERE p.import_id = $1 AND p.source_id = m.person_source_id)
        ${inDirectory(`SELECT FROM person p JOIN affiliation a ON a.person_id = p.id WHERE a.school_id = m.school_id AND p.source_system_identifier = m.person_source_id
          AND ${isNamedAt("p", "m.school_id")}`)}`,
    },
    {
      ...{
        code: "person_not_at_school",
        file,
        field: toPerson,
        message: text("The person is not at the school of the group."),
      },
      from: `SELECT m.row, m.line, m.person_column AS at FROM ${membership} AND m.school_id IS NOT NULL
        AND EXISTS (SELECT FROM staged_person p WHERE p.import_id = $1 AND p.source_id = m.person_source_id AND NOT p.is_deleted)
        AND NOT EXISTS (SELECT FROM staged_person p WHERE p.import_id = $1 AND p.source_id = m.person_source_id
          AND (p.school_id = m.school_id OR p.school_id IS NULL))`,
    },
    {
      ...{
        code: "unknown_group",
        file,
        field: toGroup,
        message: text("There is no such group in the files or at the school."),
      },
      from: `SELECT m.row, m.line, m.group_column AS at FROM ${membership} AND m.group_source_id <> ''
        AND NOT EXISTS (SELECT FROM staged_group g WHERE g.import_id = $1 AND g.source_id = m.group_source_id)
        ${inDirectory(`SELECT FROM "group" g WHERE g.school_id = m.school_id AND g.source_system_identifier = m.group_source_id`)}`,
    },
    {
      ...{ code: "group_of_other_school", file, field: toGroup, message: text("The group is one of another school.") },
      from: `SELECT m.row, m.line, m.group_column AS at FROM staged_group g
        JOIN staged_membership m ON m.import_id = $1 AND NOT m.is_deleted AND m.group_source_id = g.source_id AND m.school_id <> g.school_id
        WHERE g.import_id = $1`,
    },
  ];
}

function ambiguous({ person }: Places, schools: ReadonlySet<SchoolId>): Found[] {
  if (schools.size < 2) return [];
  const message = text(
    "The id fits two people: one at another school of the files, and one at this school who has it from a roster of this school alone. Give one of them another id, or none.",
  );
  return [
    {
      code: "id_ambiguous",
      file: person.file,
      field: person.person,
      message,
      from: selectAmbiguous("$6"),
      values: [[...schools]],
    },
  ];
}

const twice = (table: string, columns: string, where: string) => `
  SELECT t.row, t.line, t."column" AS at, t.first FROM (
    SELECT s.row, s.line, s."column", row_number() OVER same AS n, first_value(s.line) OVER same AS first
    FROM ${table} s WHERE s.import_id = $1 ${where} WINDOW same AS (PARTITION BY ${columns} ORDER BY s.row)) AS t
  WHERE t.n > 1`;
