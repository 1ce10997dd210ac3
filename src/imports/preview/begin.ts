import { rm } from "node:fs/promises";
import { isSandboxSchool, type SchoolId } from "../../directory/index.ts";
import type { Origin } from "../../events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import type { Interrupt } from "../../platform/database/interrupt.ts";
import type { Mapping } from "../formats/columns.ts";
import type { AskedScope, ImportFormat } from "../formats/format.ts";
import { schoolMissing } from "../formats/plain.ts";
import type { OnProgress } from "../state/progress.ts";
import { checkQueue, isSmallFile, joinQueue } from "../state/queue.ts";
import { writeSheet, type Sheet } from "../read/workbook.ts";
import { openSourceFile } from "../read/source.ts";
import type { Separator } from "../read/csv.ts";
import type { Encoding } from "../read/text.ts";
import type { ImportId } from "../state/record.ts";
import { importTransitions } from "../state/states.ts";

/** `mode` defaults to the files' own, then to BULK, in which people missing in the files leave. */
export type NewImport = AskedScope & {
  path: string;
  /** Required for plain CSV; files of other formats must not have another one. */
  schoolId?: SchoolId | undefined;
  /** Source id of last year's group by that of the new one; needs `schoolYear`. */
  carryOvers?: ReadonlyMap<string, string> | undefined;
  schoolYear?: string | undefined;
  fileName?: string | undefined;
  format?: ImportFormat | undefined;
  among?: ReadonlySet<SchoolId> | undefined;
  /** Whose import it is until the file names schools. */
  namedSchoolIds?: readonly SchoolId[] | undefined;
  /** What the columns mean in a table without the headings of the template. */
  columns?: Mapping | undefined;
  /** Waits for the columns even if they are known. */
  choosesColumns?: boolean | undefined;
  sheet?: string | undefined;
  encoding?: Encoding | undefined;
  separator?: Separator | undefined;
  /** The workbook whose sheet `path` is. */
  workbook?: Sheet | undefined;
  holdShare: number;
  onProgress?: OnProgress | undefined;
  interrupt?: Interrupt | undefined;
};

/** Hands a workbook over as the CSV of one sheet, and any other file as it is. Errors: those of `writeSheet`. */
export async function withSheet<T>(request: NewImport, work: (request: NewImport) => Promise<T>): Promise<T> {
  const { name: fileName, kind } = await openSourceFile(request.path, request.fileName);
  if (kind !== "xlsx") return work(request);
  const sheet = await writeSheet(request.path, request.sheet, request.interrupt?.signal);
  try {
    return await work({ ...request, fileName, path: sheet.path, workbook: { ...sheet, path: request.path } });
  } finally {
    await rm(sheet.path, { force: true });
  }
}

/** `inQueue` gives it a turn. Errors: invalid; not_found school_not_found; those of `checkQueue`. */
export async function beginImport(db: PrismaDb, request: NewImport, origin: Origin, { inQueue } = { inQueue: false }) {
  if (request.carryOvers?.size && !request.schoolYear)
    throw new AppError(
      "invalid",
      "school_year_missing",
      "Carrying groups over needs the school year, so that the same file does it once.",
    );
  if (request.schoolId !== undefined && (await isSandboxSchool(db, request.schoolId)))
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
  const id = makeUuid(origin.at) as ImportId;
  const { name, format, kind, size } = await openRoster(request);
  const actorId = origin.actorId ?? "";
  await withPrismaTransaction(db, async (tx) => {
    const joining = { actorId, schoolId: request.schoolId ?? null };
    if (inQueue) await checkQueue(tx, joining);
    await tx.prisma.import.create({
      data: {
        id,
        format,
        mode: request.mode ?? "BULK",
        people: request.people ?? "ALL",
        state: importTransitions.begin.to,
        fileName: name,
        schoolYear: request.schoolYear ?? "",
        createdAt: origin.at,
        actorId: origin.actorId ?? null,
        ...(inQueue && { progressPhase: "READING", progressPercent: 0, progressAt: origin.at }),
        namedSchoolIds: [...(request.namedSchoolIds ?? (request.schoolId === undefined ? [] : [request.schoolId]))],
      },
    });
    if (inQueue) await joinQueue(tx, { ...joining, importId: id, isReading: true, isSmall: isSmallFile(kind, size) });
  });
  return id;
}

const formats = { xlsx: "PLAIN", zip: "ONEROSTER", json: "SCHULCONNEX", csv: "PLAIN" } as const;

/** Errors: invalid format_differs, school_missing; those of `openSourceFile`. */
export async function openRoster({ path, fileName, format: request, schoolId, workbook, ...reading }: NewImport) {
  const file = await openSourceFile(path, fileName, workbook === undefined ? reading : {});
  const format = formats[file.kind];
  if (request !== undefined && request !== format)
    throw new AppError("invalid", "format_differs", "The file is a roster of another format.");
  if (format === "PLAIN" && schoolId === undefined) throw schoolMissing();
  return { ...file, format };
}
