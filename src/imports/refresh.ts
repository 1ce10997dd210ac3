import type { SchoolId } from "../directory/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import type { ImportStatus } from "./find.ts";
import { holdImport } from "./lease.ts";
import { chooseSchool } from "./listed.ts";
import { compareImport } from "./preview.ts";
import { checkEvent } from "./states.ts";

/** Makes the numbers of a waiting import anew. Errors: conflict import_running; those of `withDifference`. */
export async function refreshImport(
  db: PrismaDb,
  status: ImportStatus,
  { schoolId, holdShare }: { schoolId: SchoolId | undefined; holdShare: number },
  now: Date,
): Promise<void> {
  const school = chooseSchool(status, schoolId);
  checkEvent("compare", status);
  await withPrismaTransaction(db, (tx) => holdImport(tx, status.id));
  await compareImport(db, { id: status.id, schools: [school], holdShare, now, isAgain: true });
}
