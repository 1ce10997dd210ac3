import { recordAudit, type Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import type { ImportStatus } from "./find.ts";
import { holdImport } from "./lease.ts";
import { compareImport, nameSchools } from "./preview.ts";
import { getImport } from "./record.ts";
import { sendEvent } from "./states.ts";

/** Goes on without the faulty rows. Their people do not leave. Errors: conflict faults_remain, import_running. */
export async function leaveOutFaultyRows(
  db: PrismaDb,
  { id, namedSchoolIds }: ImportStatus,
  holdShare: number,
  origin: Origin,
): Promise<void> {
  await withPrismaTransaction(db, async (tx) => {
    await holdImport(tx, id);
    await sendEvent(tx, id, "leaveOutRows");
    const { rows, mode } = await getImport(tx, id);
    await nameSchools(tx, id, mode, namedSchoolIds);
    const detail = { importId: id, rows: rows!.faulty };
    await recordAudit(tx, { ...origin, action: "import_rows_left_out", schoolId: namedSchoolIds[0], detail });
  });
  await compareImport(db, { id, schools: namedSchoolIds, holdShare, now: origin.at });
}
