import type { PersonId, PersonName, PersonRole, SchoolId } from "../directory/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { withInterruptibleTransaction, type InterruptibleDb } from "../platform/database/interrupt.ts";
import { fields, findRows, sql, statement, table, type Part } from "../platform/database/sql.ts";
import { checkWaiting } from "./apply.ts";
import { findDifference, findDifferenceOfPeople } from "./difference.ts";
import type { ImportStatus } from "./find.ts";
import { getImport, makePart } from "./record.ts";
import { g, i, m, p } from "./tables.ts";

type OfSchool = {
  schoolId?: SchoolId | undefined;
  now: Date;
  /** What the work reads of the difference: all of it, or the people alone, which takes less time. */
  reads: "all" | "people";
};

/**
 * Works with what an import that waits would do to one of its schools, as the directory is now.
 *
 * Shape:  without a school it is the only one of the import.
 * Errors: conflict unless the import waits; not_found school_not_found; invalid school_missing.
 */
export async function withDifference<T>(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId, now, reads }: OfSchool,
  work: (tx: Transaction, schoolId: SchoolId) => Promise<T>,
): Promise<T> {
  const school = chooseSchool(status, schoolId);
  checkWaiting(status);
  const record = await getImport(db, status.id);
  return withInterruptibleTransaction(db, db.interrupt, async (tx) => {
    const part = { ...makePart(record, school, now), isShown: true };
    await (reads === "all" ? findDifference : findDifferenceOfPeople)(tx, part);
    return work(tx, school);
  });
}

/** The school that is meant. Errors: as withDifference. */
export function chooseSchool({ namedSchoolIds }: ImportStatus, schoolId: SchoolId | undefined): SchoolId {
  const [only, ...others] = namedSchoolIds;
  if (schoolId === undefined && only !== undefined && others.length === 0) return only;
  if (schoolId === undefined)
    throw new AppError("invalid", "school_missing", "The import is not of one school: name the one that is meant.");
  if (!namedSchoolIds.includes(schoolId))
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
  return schoolId;
}

export type Leaver = {
  id: PersonId;
  name: PersonName | null;
  role: PersonRole;
  sourceSystemIdentifier: string | null;
  classes: string[];
  /** Whether they are at no school left. */
  losesAccess: boolean;
};

const leaves = sql`(${i.change} = 'removed' OR ${i.leaves})`;
const isAsked = ({ isKept }: { isKept: Part }) => sql`CASE WHEN ${isKept} THEN ${i.isKept} ELSE ${leaves} END`;
const last = table("person", "last");
const nameOf = sql`CASE WHEN ${p.firstFull} IS NOT NULL
  THEN json_build_object('firstFull', ${p.firstFull}, 'firstCall', ${p.firstCall}, 'last', ${p.last}) END`;

type Paged = { schoolId: string; isKept: boolean; after: string | null; limit: number };
const selectLeavers = statement<Paged>(
  ({ schoolId, isKept, after, limit }) => sql`
  SELECT ${fields<Leaver>({
    id: p.id,
    name: nameOf,
    role: p.role,
    sourceSystemIdentifier: p.sourceSystemIdentifier,
    classes: sql`ARRAY(SELECT ${g.name} FROM ${m} JOIN ${g} ON ${g.id} = ${m.groupId}
      WHERE ${m.personId} = ${p.id} AND ${m.schoolId} = ${schoolId} AND ${g.type} = 'KLASSE' AND ${g.status} = 'ACTIVE'
      ORDER BY ${g.sortKey}, ${g.id})`,
    losesAccess: sql`coalesce(${i.change} = 'removed', false)`,
  })}
  FROM ${i} JOIN ${p} ON ${p.id} = ${i.id}
  WHERE ${isAsked({ isKept })} AND (${after}::uuid IS NULL OR (${p.sortKey}, ${p.id}) > (
    SELECT ${last.sortKey}, ${last.id} FROM ${last} WHERE ${last.id} = ${after}))
  ORDER BY ${p.sortKey}, ${p.id} LIMIT ${limit}`,
);

/**
 * Lists who leaves a school, by name, or who would be removed but is kept.
 *
 * Shape: `after` is the last person of the part before.
 */
export const listLeavers = (
  tx: Transaction,
  given: { schoolId: SchoolId; isKept?: boolean | undefined; after?: string | undefined; limit: number },
) =>
  findRows<Leaver, Paged>(tx, selectLeavers, { ...given, isKept: given.isKept ?? false, after: given.after ?? null });
