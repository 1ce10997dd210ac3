import type { SchoolId } from "../directory/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { withInterruptibleTransaction, type InterruptibleDb } from "../platform/database/interrupt.ts";
import { findDifference } from "./difference.ts";
import type { ImportStatus } from "./find.ts";
import { getImport, makePart } from "./record.ts";
import { checkEvent } from "./states.ts";

/** Errors: conflict unless the import waits; not_found school_not_found; invalid school_missing. */
export async function withDifference<T>(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId, now }: { schoolId?: SchoolId | undefined; now: Date },
  work: (tx: Transaction, schoolId: SchoolId) => Promise<T>,
): Promise<T> {
  const school = chooseSchool(status, schoolId);
  checkEvent("compare", status);
  const record = await getImport(db, status.id);
  return withInterruptibleTransaction(db, db.interrupt, async (tx) => {
    const part = { ...makePart(record, school, now), isShown: true };
    await findDifference(tx, part);
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
