import { recordAudit, type Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { ImportStatus } from "./find.ts";
import { holdImport } from "./lease.ts";
import { compareImport, nameSchools } from "./preview.ts";
import { getImport, type ImportRecord } from "./record.ts";

/** Goes on without the faulty rows. Their people do not leave. Errors: conflict faults_remain, import_running. */
export async function leaveOutFaultyRows(
  db: PrismaDb,
  { id, namedSchoolIds }: ImportStatus,
  holdShare: number,
  origin: Origin,
): Promise<void> {
  await withPrismaTransaction(db, async (tx) => {
    await holdImport(tx, id);
    const { rows, mode } = checkLeavable(await getImport(tx, id));
    await tx.prisma.import.update({ where: { id }, data: { state: "READY", errorCount: 0 } });
    await nameSchools(tx, id, mode, namedSchoolIds);
    const detail = { importId: id, rows: rows!.faulty };
    await recordAudit(tx, { ...origin, action: "import_rows_left_out", schoolId: namedSchoolIds[0], detail });
  });
  await compareImport(db, { id, schools: namedSchoolIds, holdShare, now: origin.at });
}

function checkLeavable(record: ImportRecord): ImportRecord {
  if (record.state === "BROKEN" && record.rows !== null) return record;
  throw new AppError(
    "conflict",
    "faults_remain",
    "The file has no rows that can be left out. Correct it and hand it in again.",
  );
}
