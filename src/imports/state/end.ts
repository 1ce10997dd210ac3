import { recordAudit, type Origin } from "../../events/index.ts";
import { withPrismaTransaction } from "../../platform/database/db.ts";
import type { Transaction, PrismaDb, RecordStore } from "../../platform/database/db.ts";
import { holdImport, waitForReading } from "./lease.ts";
import { leaveQueue } from "./queue.ts";
import type { ImportId } from "./record.ts";
import { removeStaged } from "../formats/staging.ts";
import { sendEvent, noProgress, tryEvent } from "./states.ts";
import { AppError } from "../../platform/errors.ts";
import { Prisma } from "../../../generated/prisma/client.ts";

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

/** Records why an import could not be read, as its fault. A cancelled import stays cancelled. */
export async function recordFailure(db: PrismaDb, id: ImportId, error: unknown): Promise<void> {
  const { code, message } =
    error instanceof AppError && error.kind !== "bug"
      ? error
      : { code: "import_failed", message: "The file could not be read to its end, for a reason that is not in it." };
  await withPrismaTransaction(db, async (tx) => {
    if (!(await tryEvent(tx, id, "fail")))
      return void (await tx.prisma.import.updateMany({ where: { id }, data: noProgress }));
    const { fileName: file } = await tx.prisma.import.findUniqueOrThrow({ where: { id }, select: { fileName: true } });
    await tx.prisma.importError.deleteMany({ where: { importId: id } });
    await tx.prisma.importError.create({ data: { importId: id, row: 1, file, line: 1, code, message } });
  });
  await removeStaged(db, id);
  await forgetUpload(db, id);
}

export async function forgetUpload({ prisma }: RecordStore, id: string): Promise<void> {
  await prisma.importPiece.deleteMany({ where: { importId: id } });
  await prisma.import.updateMany({ where: { id, state: { not: "UNMAPPED" } }, data: { upload: Prisma.DbNull } });
}

export async function forgetRead(db: PrismaDb, importId: ImportId): Promise<void> {
  await removeStaged(db, importId);
  await db.prisma.importError.deleteMany({ where: { importId } });
}

export async function forgetImport(db: PrismaDb, id: ImportId): Promise<void> {
  await removeStaged(db, id);
  await db.prisma.import.deleteMany({ where: { id } });
}
