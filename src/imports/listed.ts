import type { PersonId, PersonName, PersonRole, SchoolId } from "../directory/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { withInterruptibleTransaction, type InterruptibleDb } from "../platform/database/interrupt.ts";
import { fields, makeFind, sql, table } from "../platform/database/sql.ts";
import { checkWaiting } from "./apply.ts";
import { findDifference, findDifferenceOfPeople } from "./difference.ts";
import type { ImportStatus } from "./find.ts";
import { getImport, makePart } from "./record.ts";
import { g, i, leaves, m, p } from "./tables.ts";

/**
 * `reads` is the part of the difference that `work` reads; people alone take less time.
 *
 * Errors: conflict unless the import waits; not_found school_not_found; invalid school_missing.
 */
export async function withDifference<T>(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId, now, reads }: { schoolId?: SchoolId | undefined; now: Date; reads: "all" | "people" },
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
  losesAccess: boolean;
};

const last = table("person", "last");
const nameOf = sql`CASE WHEN ${p.firstFull} IS NOT NULL
  THEN json_build_object('firstFull', ${p.firstFull}, 'firstCall', ${p.firstCall}, 'last', ${p.last}) END`;

type Page = { schoolId: SchoolId; isKept?: boolean | undefined; after?: string | undefined; limit: number };
export const listLeavers = makeFind<Leaver, Page>(
  ({ schoolId, isKept, after, limit }) => sql`
  SELECT ${fields<Leaver>({
    id: p.id,
    name: nameOf,
    role: p.role,
    sourceSystemIdentifier: p.sourceSystemIdentifier,
    classes: sql`ARRAY(SELECT ${g.name} FROM ${m} JOIN ${g} ON ${g.id} = ${m.groupId}
      WHERE ${m.personId} = ${p.id} AND ${m.schoolId} = ${schoolId} AND ${g.type} = 'KLASSE' AND ${g.status} = 'ACTIVE'
      ORDER BY ${g.naturalKey}, ${g.id})`,
    losesAccess: sql`coalesce(${i.change} = 'removed', false)`,
  })}
  FROM ${i} JOIN ${p} ON ${p.id} = ${i.id}
  WHERE CASE WHEN ${isKept} THEN ${i.isKept} ELSE ${leaves} END AND (${after}::uuid IS NULL OR (${p.sortKey}, ${p.id}) > (
    SELECT ${last.sortKey}, ${last.id} FROM ${last} WHERE ${last.id} = ${after}))
  ORDER BY ${p.sortKey}, ${p.id} LIMIT ${limit}`,
);
