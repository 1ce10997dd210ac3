import type { PersonId, SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { PrismaDb, Transaction } from "../platform/database/db.ts";
import { findRows, type Queryable, sql, statement, table } from "../platform/database/sql.ts";
import { p } from "./tables.ts";

/** Gives user names to people of a school who have none; `findRosterNames` reads those of the files. */
export type GiveUserNames = (
  db: PrismaDb,
  school: { schoolId: SchoolId; findRosterNames: (tx: Transaction) => Promise<ReadonlyMap<PersonId, string>> },
  origin: Origin,
) => Promise<unknown>;

type SchoolImport = { importId: string; schoolId: SchoolId };

const s = table("stagedPerson", "s");

const selectNames = statement<SchoolImport>(
  ({ importId, schoolId }) => sql`
  SELECT ${p.id} AS "personId", ${s.username} AS username
  FROM ${s} JOIN ${p} ON ${p.homeSchoolId} = ${s.schoolId} AND ${p.sourceSystemIdentifier} = ${s.sourceId}
  WHERE ${s.importId} = ${importId} AND ${s.schoolId} = ${schoolId} AND ${s.username} <> '' AND NOT ${s.isDeleted}`,
);

export async function findRosterNames(tx: Queryable, school: SchoolImport): Promise<Map<PersonId, string>> {
  const rows = await findRows<{ personId: PersonId; username: string }, SchoolImport>(tx, selectNames, school);
  return new Map(rows.map(({ personId, username }) => [personId, username]));
}
