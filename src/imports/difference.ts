import type { SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import { addNamed, findGroups, findMemberships } from "./difference-groups.ts";
import { findPeople } from "./difference-people.ts";
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
 *
 * Shape:  `is_gone` marks whom and what the files delete or no longer name, whether or not that was done before; no statement
 *         touches memberships of those. `leaves` with `next_home` is a person whose home ends and who stays at another school.
 * Errors: conflict when an id has come to fit two people since the files were checked.
 */
export async function findDifference(tx: Queryable, part: Part): Promise<void> {
  await tx.query(
    `SET LOCAL statement_timeout = '60min'; SET LOCAL work_mem = '64MB'; SET LOCAL idle_in_transaction_session_timeout = '10min'`,
  );
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
    change text, joins bool NOT NULL DEFAULT false, leaves bool NOT NULL DEFAULT false, left_home uuid, next_home uuid,
    is_gone bool NOT NULL DEFAULT false, is_staged bool NOT NULL DEFAULT false) ON COMMIT DROP;
  CREATE TEMPORARY TABLE import_group (id uuid, source_id text, name text, sort_key text, type group_type, change text, previous_source_id text,
    is_gone bool NOT NULL DEFAULT false) ON COMMIT DROP;
  CREATE TEMPORARY TABLE import_membership (group_id uuid, person_id uuid, role person_role, change text) ON COMMIT DROP`;
