import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Prisma } from "../../../generated/prisma/client.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import { withPrismaTransaction, type PrismaDb, type RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { makeTemporaryPath } from "../../platform/temporary-files.ts";
import { checkMapping, cleanCell, guessColumns, isTemplate } from "../formats/columns.ts";
import type { Mapping, TableGuess } from "../formats/columns.ts";
import { chooseScope, type AskedScope, type ImportMode, type ImportPeople } from "../formats/format.ts";
import { isReasonHeading } from "../formats/plain.ts";
import { foldWord } from "../formats/words.ts";
import { checkQueue, isSmallFile, joinQueue } from "../state/queue.ts";
import { readHead } from "../read/table.ts";
import type { TableEncoding, SourceFile } from "../read/source.ts";
import { findEncoding, type Encoding, type FoundEncoding, type PossibleEncoding } from "../read/text.ts";
import type { ImportId } from "../state/record.ts";
import { checkEvent, sendEvent, tryEvent, type ImportState } from "../state/states.ts";
import { forgetUpload } from "../state/end.ts";

/** A table whose columns are not mapped yet: what was found in it, and the options of its upload. */
export type Upload = {
  table: TableGuess & { encoding: Encoding; possibleEncodings: readonly PossibleEncoding[] };
  sheet: string | null;
  sheets: readonly string[];
  mode: ImportMode | null;
  people?: ImportPeople | null;
  carryOvers: readonly (readonly [string, string])[];
};

const pieceBytes = 2 ** 20;

/** Keeps the file in the database, because another process may be asked to read it. */
export async function waitForColumns(db: RecordStore, id: ImportId, path: string, upload: Upload): Promise<void> {
  let number = 0;
  for await (const bytes of createReadStream(path, { highWaterMark: pieceBytes }) as AsyncIterable<Buffer>) {
    const piece = { importId: id, number: (number += 1), bytes: new Uint8Array(bytes) };
    await db.prisma.importPiece.upsert({
      where: { importId_number: { importId: id, number } },
      create: piece,
      update: piece,
    });
  }
  const { sheet, sheets, ...rest } = upload;
  const cleaned = { ...rest, sheet: sheet && cleanCell(sheet), sheets: sheets.map(cleanCell) };
  const isWaiting = await tryEvent(db, id, "askForColumns", { upload: cleaned as unknown as Prisma.InputJsonObject });
  if (!isWaiting) await forgetUpload(db, id);
}

/** Errors: conflict import_mapped. */
export async function getUpload({ prisma }: RecordStore, id: ImportId): Promise<Upload> {
  const { state, upload } = await prisma.import.findUniqueOrThrow({
    where: { id },
    select: { state: true, upload: true },
  });
  checkEvent("mapColumns", { state: state as ImportState });
  return upload as unknown as Upload;
}

export type NewColumns = Mapping & TableEncoding & { sheet?: string | undefined };

/**
 * Begins to read the import with its columns; with another sheet, encoding or separator it is looked at again instead.
 *
 * Errors: those of `checkMapping` and `checkQueue`; invalid sheet_unknown; conflict import_mapped.
 */
export async function beginMapped(
  db: PrismaDb,
  id: ImportId,
  { sheet, encoding, separator, ...columns }: NewColumns,
  origin: Origin,
) {
  const upload = await getUpload(db, id);
  const { table } = upload;
  if (sheet !== undefined && sheet !== upload.sheet && !upload.sheets.includes(sheet))
    throw new AppError("invalid", "sheet_unknown", "The workbook has no such sheet.");
  const present = { sheet: upload.sheet, encoding: shownEncoding(table.encoding), separator: table.separator };
  const isText = upload.sheet === null;
  const choice = isText ? { encoding, separator } : { sheet };
  const isOther = Object.entries(choice).some(
    ([name, value]) => value && value !== present[name as keyof typeof present],
  );
  if (!isOther) checkMapping(upload.table, columns);
  const actorId = origin.actorId ?? "";
  const { fileName, schoolYear, namedSchoolIds } = await withPrismaTransaction(db, async (tx) => {
    const { namedSchoolIds: named } = await tx.prisma.import.findUniqueOrThrow({ where: { id } });
    const joining = { actorId, schoolId: (named[0] ?? null) as SchoolId | null };
    await checkQueue(tx, joining);
    await sendEvent(tx, id, "mapColumns", { progressAt: origin.at });
    const row = await tx.prisma.import.findUniqueOrThrow({ where: { id } });
    const [schoolId] = row.namedSchoolIds;
    await recordAudit(tx, { ...origin, action: "import_columns_mapped", schoolId, detail: { importId: id } });
    const pieces = await tx.prisma.importPiece.findMany({ where: { importId: id }, take: 2 });
    const size = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const isSmall = isSmallFile(isText ? "csv" : "xlsx", size);
    await joinQueue(tx, { ...joining, importId: id, isReading: true, isSmall });
    return row;
  });
  return {
    path: await restoreFile(db, id),
    fileName,
    schoolYear,
    schoolId: namedSchoolIds[0] as SchoolId,
    sheet: sheet ?? upload.sheet ?? undefined,
    encoding: encoding === present.encoding ? table.encoding : (encoding ?? table.encoding),
    separator: separator ?? table.separator,
    carryOvers: new Map(upload.carryOvers),
    ...(isOther
      ? { mode: upload.mode ?? undefined, people: upload.people ?? undefined, choosesColumns: true }
      : { columns }),
  };
}

/** After a failure that is not the file's, its columns can be sent again. */
export const waitAgain = (db: RecordStore, id: ImportId): Promise<boolean> => tryEvent(db, id, "returnToColumns");

async function restoreFile({ prisma }: RecordStore, importId: ImportId): Promise<string> {
  const path = makeTemporaryPath();
  async function* read(): AsyncGenerator<Uint8Array> {
    for (let number = 1; ; number++) {
      const piece = await prisma.importPiece.findUnique({ where: { importId_number: { importId, number } } });
      if (piece === null) return;
      yield piece.bytes;
    }
  }
  await pipeline(Readable.from(read()), createWriteStream(path, { flags: "wx", mode: 0o600 })).catch(
    async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    },
  );
  return path;
}

/** The encoding as people choose it: a damaged file is UTF-8 too. */
export const shownEncoding = (encoding: Encoding) => (encoding === "damaged utf-8" ? "utf-8" : encoding);

/** `mapping` is undefined if nobody knows it yet; "template" means that the columns are found by their names. */
export type TablePlan = {
  guess: TableGuess;
  found: FoundEncoding;
  mapping: Mapping | "template" | undefined;
  /** The lines above the headings. */
  titles: readonly string[];
};

type PlanOptions = AskedScope & {
  schoolId?: SchoolId | undefined;
  columns?: Mapping | undefined;
  choosesColumns?: boolean | undefined;
};

/** Undefined if the file has no rows. Errors: those of `guessColumns`. */
export async function planTable(
  db: RecordStore,
  file: SourceFile,
  { schoolId, mode, people, columns, choosesColumns = false }: PlanOptions,
): Promise<TablePlan | undefined> {
  const detected: FoundEncoding = file.encoding ? { encoding: file.encoding, possible: [] } : await findEncoding(file);
  const isReadable = detected.possible.length === 0 && !choosesColumns;
  const head = await readHead({ ...file, encoding: detected.encoding });
  if (head.records.length === 0) return undefined;
  const guess = guessColumns(head, { name: file.name, mode, people });
  const titles = head.records
    .filter(({ line }) => line < guess.headingLine)
    .map(({ fields }) => fields.join(" ").trim());
  const plan = { guess, found: detected, titles };
  if (columns !== undefined) return { ...plan, mapping: columns };
  if (isTemplate(guess) && isReadable) return { ...plan, mapping: "template" };
  const remembered = schoolId && (await findKept(db, schoolId, guess));
  if (!remembered) return { ...plan, mapping: undefined };
  const { role, className } = guess.mapping;
  const mapping = {
    ...remembered,
    className,
    ...chooseScope({ mode, people }, { mode: remembered.mode, people: remembered.people ?? "ALL" }),
  };
  // Files of students and of teachers, or of two classes, may have the same headings.
  const isSure =
    remembered.className === null && (remembered.role === null || role === null || remembered.role === role);
  return isSure && isReadable ? { ...plan, mapping } : { ...plan, guess: { ...guess, mapping }, mapping: undefined };
}

const keptMappings = 20;

const keyOf = ({ headings }: Pick<TableGuess, "headings">): string =>
  createHash("sha256")
    .update(
      headings
        .filter((heading) => !isReasonHeading(heading))
        .map(foldWord)
        .join("\n")
        .trimEnd(),
    )
    .digest("hex");

async function findKept({ prisma }: RecordStore, schoolId: SchoolId, guess: TableGuess): Promise<Mapping | undefined> {
  if (guess.headingLine === 0) return undefined;
  const mappings = await prisma.columnMapping.findMany({ where: { schoolId }, orderBy: { usedAt: "desc" } });
  const same = mappings.find(({ headings }) => headings === keyOf(guess));
  for (const { mapping } of same === undefined ? mappings : [same]) {
    const { headings, role, className, idFromName, mode, people, ...one } = mapping as unknown as KeptMapping;
    const uses = same === undefined ? moveUses({ headings, ...one }, guess) : one.uses;
    if (uses !== undefined) return { uses, role, className, idFromName, mode, people };
  }
  return undefined;
}

/** The uses in a table of the same kind: its columns are in another order, or others that are not read are there. */
function moveUses(mapping: Pick<KeptMapping, "headings" | "uses">, guess: TableGuess): Mapping["uses"] | undefined {
  const [before, now] = [mapping.headings.map(foldWord), guess.headings.map(foldWord)];
  const isOnce = (list: readonly string[], heading: string) =>
    list.includes(heading) && list.indexOf(heading) === list.lastIndexOf(heading);
  const isThere = (heading: string) => isOnce(before, heading) && isOnce(now, heading);
  if (!before.every((heading, index) => mapping.uses[index] === null || isThere(heading))) return undefined;
  if (!now.every((heading, index) => guess.mapping.uses[index] === null || before.includes(heading))) return undefined;
  return now.map((heading) => mapping.uses[before.indexOf(heading)] ?? null);
}

export async function keepMapping(
  { prisma }: RecordStore,
  schoolId: SchoolId,
  { guess, mapping }: { guess: TableGuess; mapping: Mapping },
  usedAt: Date,
): Promise<void> {
  if (guess.headingLine === 0) return;
  const { headings } = guess;
  const data = { mapping: { ...mapping, headings } as unknown as Prisma.InputJsonObject, usedAt };
  const key = { schoolId, headings: keyOf(guess) };
  await prisma.columnMapping.upsert({ where: { schoolId_headings: key }, create: { ...key, ...data }, update: data });
  const old = await prisma.columnMapping.findMany({
    where: { schoolId },
    orderBy: { usedAt: "desc" },
    skip: keptMappings,
    select: { headings: true },
  });
  const gone = old.map(({ headings: one }) => one);
  if (gone.length > 0) await prisma.columnMapping.deleteMany({ where: { schoolId, headings: { in: gone } } });
}

export type KeptMapping = Mapping & { id: string; headings: readonly string[]; usedAt: Date };

export async function listColumnMappings({ prisma }: RecordStore, schoolId: SchoolId): Promise<KeptMapping[]> {
  const rows = await prisma.columnMapping.findMany({ where: { schoolId }, orderBy: { usedAt: "desc" } });
  return rows.map(({ headings: key, mapping, usedAt }) => ({
    ...(mapping as unknown as Omit<KeptMapping, "id" | "usedAt">),
    id: idOf(key),
    usedAt,
  }));
}

/** A UUID of version 8 (RFC 9562). */
const idOf = (key: string): string =>
  [key.slice(0, 8), key.slice(8, 12), `8${key.slice(13, 16)}`, `8${key.slice(17, 20)}`, key.slice(20, 32)].join("-");

export async function deleteColumnMapping(tx: RecordStore, schoolId: SchoolId, mapping: KeptMapping, origin: Origin) {
  await tx.prisma.columnMapping.deleteMany({ where: { schoolId, headings: keyOf(mapping) } });
  const detail = { columnMappingId: mapping.id };
  await recordAudit(tx, { ...origin, action: "column_mapping_deleted", schoolId, detail });
}
