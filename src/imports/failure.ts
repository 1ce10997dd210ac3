import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { removeStaged, type ImportId } from "./record.ts";
import { noProgress, tryEvent } from "./states.ts";
import { forgetUpload } from "./unmapped.ts";

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
