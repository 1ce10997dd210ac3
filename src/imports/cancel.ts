import { recordAudit, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { holdImport, waitForReading } from "./lease.ts";
import { leaveQueue } from "./queue.ts";
import { forgetUpload } from "./unmapped.ts";
import type { ImportId } from "./record.ts";
import { sendEvent } from "./states.ts";

/** The caller and the sweep remove staged rows. Errors: conflict if it is applied, expired or being applied. */
export async function cancelImport(tx: Transaction, id: ImportId, origin: Origin): Promise<void> {
  await waitForReading(tx, { importId: id });
  await holdImport(tx, id);
  const { state, namedSchoolIds } = await tx.prisma.import.findUniqueOrThrow({ where: { id } });
  if (state === "CANCELLED") return;
  await sendEvent(tx, id, "cancel");
  await leaveQueue(tx, id);
  await forgetUpload(tx, id);
  await tx.prisma.importFaultyRow.deleteMany({ where: { importId: id } });
  await tx.prisma.importError.updateMany({ where: { importId: id }, data: { lineText: null } });
  const [only, ...others] = namedSchoolIds;
  const schoolId = others.length === 0 ? only : undefined;
  await recordAudit(tx, { ...origin, action: "import_cancelled", schoolId, detail: { importId: id } });
}
