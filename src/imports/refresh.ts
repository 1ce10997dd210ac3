import type { SchoolId } from "../directory/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import { checkWaiting } from "./apply.ts";
import type { ImportStatus } from "./find.ts";
import { holdImport } from "./lease.ts";
import { chooseSchool } from "./listed.ts";
import { compareAgain } from "./preview.ts";

/** Makes the numbers of a waiting import anew. Errors: conflict import_running; those of `withDifference`. */
export async function refreshImport(
  db: PrismaDb,
  status: ImportStatus,
  { schoolId, holdShare }: { schoolId: SchoolId | undefined; holdShare: number },
  now: Date,
): Promise<void> {
  const school = chooseSchool(status, schoolId);
  checkWaiting(status);
  await withPrismaTransaction(db, (tx) => holdImport(tx, status.id));
  await compareAgain(db, status.id, { schoolId: school, holdShare, now });
}
