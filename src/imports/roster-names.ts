import type { PersonId, SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { PrismaDb, Queryable, Transaction } from "../platform/database/db.ts";
import { findRows, sql, statement, table } from "../platform/database/sql.ts";
import { p } from "./tables.ts";

/**
 * Gives the people of a school user names who have none, in a transaction of its own.
 *
 * Shape: `findRosterNames` reads those that the files name.
 */
export type GiveUserNames = (
  db: PrismaDb,
  school: { schoolId: SchoolId; findRosterNames: (tx: Transaction) => Promise<ReadonlyMap<PersonId, string>> },
  origin: Origin,
) => Promise<unknown>;

type OfSchool = { importId: string; schoolId: SchoolId };

const s = table("stagedPerson", "s");

const selectNames = statement<OfSchool>(
  ({ importId, schoolId }) => sql`
  SELECT ${p.id} AS "personId", ${s.username} AS username
  FROM ${s} JOIN ${p} ON ${p.homeSchoolId} = ${s.schoolId} AND ${p.sourceSystemIdentifier} = ${s.sourceId}
  WHERE ${s.importId} = ${importId} AND ${s.schoolId} = ${schoolId} AND ${s.username} <> '' AND NOT ${s.isDeleted}`,
);

/** The user names that the files of an import give the people of a school. */
export async function findRosterNames(tx: Queryable, of: OfSchool): Promise<Map<PersonId, string>> {
  const rows = await findRows<{ personId: PersonId; username: string }, OfSchool>(tx, selectNames, of);
  return new Map(rows.map(({ personId, username }) => [personId, username]));
}
