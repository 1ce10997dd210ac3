import type { SchoolId } from "../directory/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { addNamed, findGroups, findMemberships } from "./difference-groups.ts";
import { findPeople } from "./difference-people.ts";
import type { ImportFormat, ImportMode } from "./formats/format.ts";
import { keepStaff } from "./keep-staff.ts";
import { analyzeGroups, analyzeMemberships, analyzePeople, createTables } from "./tables.ts";

const workFor = (time: string) => `SET LOCAL statement_timeout = '${time}'; SET LOCAL work_mem = '64MB';
  SET LOCAL idle_in_transaction_session_timeout = '10min'`;

/** Gives a transaction the time and the memory that a whole district takes. */
export const longWork = workFor("60min");
// Somebody waits for the answer.
const shownWork = workFor("5min");

/** One school's part of an import. `schools` are all that the import names. */
export type SchoolPart = {
  importId: string;
  schoolId: SchoolId;
  schools: readonly SchoolId[];
  format: ImportFormat;
  mode: ImportMode;
  schoolYear: string;
  now: Date;
  /** Whether the difference is only shown: its statements have less time. */
  isShown?: boolean;
  /** Who applies the import. Nobody is removed whom they, or who handed it in, may not remove. */
  appliedBy?: string | undefined;
};

/**
 * Works out what an import would do to one school, in the temporary tables of tables.ts. Preview and import read the
 * same tables, so that they cannot differ.
 *
 * Errors: conflict when an id has come to fit two people since the files were checked.
 */
export async function findDifference(tx: Transaction, part: SchoolPart): Promise<void> {
  await findDifferenceOfPeople(tx, part);
  await findGroups(tx, part);
  if (part.mode === "DELTA") await addNamed(tx, part);
  await tx.query(`${analyzePeople}; ${analyzeGroups}`);
  await findMemberships(tx, part);
  await tx.query(analyzeMemberships);
}

/** As findDifference, for the people alone: the tables of groups and memberships stay empty. */
export async function findDifferenceOfPeople(tx: Transaction, part: SchoolPart): Promise<void> {
  await tx.query(part.isShown === true ? shownWork : longWork);
  await tx.query(createTables);
  await findPeople(tx, part);
  await keepStaff(tx, part);
}
