import type { SchoolId } from "../directory/index.ts";
import { removeInBatches } from "../platform/jobs/batches.ts";
import type { Db, PrismaDb, Queryable, RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { findRows, run, sql, statement, table } from "../platform/database/sql.ts";
import type { Counts } from "./counts.ts";
import type { SchoolPart } from "./difference.ts";
import type { ImportFormat, ImportMode } from "./formats/format.ts";

export type ImportId = string & { readonly __importId: true };

/**
 * READY and HELD wait; HELD needs somebody to confirm what it removes; EXPIRED waited too long, CANCELLED was not
 * wanted.
 */
export type ImportState = "READING" | "BROKEN" | "READY" | "HELD" | "APPLIED" | "EXPIRED" | "CANCELLED";

export type ImportRecord = {
  id: ImportId;
  format: ImportFormat;
  mode: ImportMode;
  state: ImportState;
  fileName: string;
  schoolYear: string;
  errorCount: number;
  /** What was passed over on purpose, by code. */
  notes: Record<string, number>;
  createdAt: Date;
  appliedAt: Date | null;
  schools: { id: SchoolId; name: string; state: "READY" | "HELD" | "APPLIED"; counts: Counts }[];
};

/**
 * Units: line from 1; column is the number of the field in CSV and of the character in JSON; null where the whole line
 * or file is meant.
 */
export type ImportFault = {
  file: string;
  line: number;
  column: number | null;
  field: string | null;
  code: string;
  message: string;
  /** The line itself; null where it is not kept. */
  text: string | null;
};

const shown = {
  id: true,
  format: true,
  mode: true,
  state: true,
  fileName: true,
  schoolYear: true,
  errorCount: true,
  notes: true,
  createdAt: true,
  appliedAt: true,
  schools: {
    select: { schoolId: true, school: { select: { name: true } }, state: true, counts: true },
    orderBy: { schoolId: "asc" },
  },
} as const;

type Row = Awaited<ReturnType<typeof findImport>>;

const findImport = ({ prisma }: RecordStore, id: ImportId) =>
  prisma.import.findUnique({ where: { id }, select: shown });

// Codes and JSON have no types of their own in the database.
const present = ({ schools, ...row }: NonNullable<Row>) =>
  ({
    ...row,
    schools: schools.map(({ schoolId, school, ...rest }) => ({ id: schoolId, name: school.name, ...rest })),
  }) as ImportRecord;

/** Gets an import with its schools. Errors: not_found. */
export async function getImport(db: RecordStore, id: ImportId): Promise<ImportRecord> {
  const row = await findImport(db, id);
  if (row === null) throw importNotFound();
  return present(row);
}

export const importNotFound = () => new AppError("not_found", "import_not_found", "There is no such import.");

/** Reads imports with their schools, in no order. */
export async function listRecords({ prisma }: RecordStore, ids: readonly ImportId[]): Promise<ImportRecord[]> {
  return (await prisma.import.findMany({ where: { id: { in: [...ids] } }, select: shown })).map(present);
}

/** Lists the latest imports, those of one school if it is named. */
export async function listImports(
  { prisma }: RecordStore,
  { schoolId, limit = 50 }: { schoolId?: SchoolId | undefined; limit?: number | undefined },
): Promise<ImportRecord[]> {
  const rows = await prisma.import.findMany({
    where: schoolId === undefined ? {} : { schools: { some: { schoolId } } },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: limit,
    select: shown,
  });
  return rows.map(present);
}

/** Lists the faults of a broken import in the order of its files, from the `skip`-th on. */
export async function listImportFaults(
  { prisma }: RecordStore,
  importId: ImportId,
  { limit = 1000, skip = 0 } = {},
): Promise<ImportFault[]> {
  const faults = await prisma.importError.findMany({
    where: { importId },
    orderBy: [{ file: "asc" }, { line: "asc" }, { column: { sort: "asc", nulls: "first" } }, { row: "asc" }],
    take: limit,
    skip,
    select: { file: true, line: true, column: true, field: true, code: true, message: true, lineText: true },
  });
  return faults.map(({ lineText, ...fault }) => ({ ...fault, text: lineText }));
}

/** Makes the part of an import that one of its schools is brought to. */
export function makePart(
  { id, format, mode, schoolYear, schools }: ImportRecord,
  schoolId: SchoolId,
  now: Date,
): SchoolPart {
  return { importId: id, schoolId, schools: schools.map((school) => school.id), format, mode, schoolYear, now };
}

const stagedTables = (["stagedPerson", "stagedRole", "stagedGroup", "stagedMembership"] as const).map((name) =>
  table(name),
);
const deletions = stagedTables.map((staged) =>
  statement<{ importId: string; batch: number }>(
    ({ importId, batch }) => sql`DELETE FROM ${staged} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${staged} WHERE ${staged.importId} = ${importId} LIMIT ${batch}))`,
  ),
);

/** Removes what an import has staged, each batch in a transaction of its own. */
export async function removeStaged(db: Pick<Db, "pool">, importId: string, signal = never): Promise<void> {
  for (const deleteRows of deletions)
    await removeInBatches(signal, (batch) => run(db.pool, deleteRows, { importId, batch }));
}

/** Removes what was read of a file: its records and its faults. */
export async function forgetRead(db: PrismaDb, importId: ImportId): Promise<void> {
  await removeStaged(db, importId);
  await db.prisma.importError.deleteMany({ where: { importId } });
}

const never = new AbortController().signal;

const listStaged = stagedTables.map((staged) =>
  statement(
    () => sql`WITH RECURSIVE staged (id) AS (
      (SELECT ${staged.importId} FROM ${staged} ORDER BY ${staged.importId} LIMIT 1)
      UNION ALL SELECT (SELECT ${staged.importId} FROM ${staged} WHERE ${staged.importId} > staged.id
        ORDER BY ${staged.importId} LIMIT 1) FROM staged WHERE staged.id IS NOT NULL)
    SELECT id FROM staged WHERE id IS NOT NULL`,
  ),
);

/** The imports of which rows are staged, found by index whatever their number is. */
export async function findStaged(db: Queryable): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const list of listStaged) for (const { id } of await findRows<{ id: string }>(db, list, {})) ids.add(id);
  return ids;
}

/** Lets PostgreSQL count the staged rows; outside of any transaction, where it makes no other import wait. */
export async function analyzeStaged(db: Queryable): Promise<void> {
  await db.query("ANALYZE staged_person, staged_role, staged_group, staged_membership");
}
