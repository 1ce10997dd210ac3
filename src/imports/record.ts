import type { Prisma } from "../../generated/prisma/client.ts";
import type { SchoolId } from "../directory/index.ts";
import { removeInBatches } from "../platform/jobs/batches.ts";
import type { Db, PrismaDb, RecordStore } from "../platform/database/db.ts";
import { findRows, type Queryable, run, sql, statement, table } from "../platform/database/sql.ts";
import type { Counts } from "./counts.ts";
import type { Hold } from "./holds.ts";
import type { RowCounts } from "./faulty-rows.ts";
import type { ImportFormat, ImportMode, ImportPeople, Subject } from "./formats/format.ts";
import { importNotFound, type ImportState, type SchoolState } from "./states.ts";

export type ImportId = string & { readonly __importId: true };

// The database types codes and JSON as text.
type Coded = {
  id: ImportId;
  format: ImportFormat;
  mode: ImportMode;
  people: ImportPeople;
  state: ImportState;
  notes: Record<string, number>;
  speaksOf: Subject[];
  schools: {
    id: SchoolId;
    name: string;
    state: SchoolState;
    counts: Counts;
    holds: Hold[];
    comparedAt: Date | null;
    undoUntil: Date | null;
  }[];
  rows: RowCounts | null;
};

type Row = Prisma.ImportGetPayload<{ select: typeof shown }>;

export type ImportRecord = Omit<Row, keyof Coded> & Coded;

export type ImportFault = Omit<Prisma.ImportErrorModel, "importId" | "row" | "record" | "lineText"> & {
  text: string | null;
};

const shown = {
  id: true,
  format: true,
  mode: true,
  people: true,
  speaksOf: true,
  state: true,
  fileName: true,
  schoolYear: true,
  errorCount: true,
  notes: true,
  rows: true,
  headings: true,
  warningCount: true,
  createdAt: true,
  appliedAt: true,
  undoneAt: true,
  schools: {
    select: {
      schoolId: true,
      school: { select: { name: true } },
      state: true,
      counts: true,
      holds: true,
      comparedAt: true,
      undoUntil: true,
    },
    orderBy: { schoolId: "asc" },
  },
} as const;

const present = ({ schools, ...row }: Row) =>
  ({
    ...row,
    schools: schools.map(({ schoolId, school, ...rest }) => ({ id: schoolId, name: school.name, ...rest })),
  }) as ImportRecord;

export async function getImport({ prisma }: RecordStore, id: ImportId): Promise<ImportRecord> {
  const row = await prisma.import.findUnique({ where: { id }, select: shown });
  if (row === null) throw importNotFound();
  return present(row);
}

export async function listRecords({ prisma }: RecordStore, ids: readonly ImportId[]): Promise<ImportRecord[]> {
  return (await prisma.import.findMany({ where: { id: { in: [...ids] } }, select: shown })).map(present);
}

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
    omit: { importId: true, row: true, record: true },
  });
  return faults.map(({ lineText, ...fault }) => ({ ...fault, text: lineText }));
}

export type SchoolPart = {
  importId: string;
  schoolId: SchoolId;
  schools: readonly SchoolId[];
  format: ImportFormat;
  mode: ImportMode;
  people: ImportPeople;
  speaksOf: readonly Subject[];
  schoolYear: string;
  now: Date;
  /** Only for display, with a shorter timeout. */
  isShown?: boolean;
  /** Nobody is removed whom this actor, or the uploader, may not remove. */
  appliedBy?: string | undefined;
};

export function makePart(
  { id, format, mode, people, speaksOf, schoolYear, schools }: ImportRecord,
  schoolId: SchoolId,
  now: Date,
): SchoolPart {
  const all = schools.map((school) => school.id);
  return { importId: id, schoolId, schools: all, format, mode, people, speaksOf, schoolYear, now };
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

export async function removeStaged(db: Pick<Db, "pool">, importId: string, signal = never): Promise<void> {
  for (const deleteRows of deletions)
    await removeInBatches(signal, (batch) => run(db.pool, deleteRows, { importId, batch }));
}

export async function forgetRead(db: PrismaDb, importId: ImportId): Promise<void> {
  await removeStaged(db, importId);
  await db.prisma.importError.deleteMany({ where: { importId } });
}

const never = new AbortController().signal;

const faultyRow = table("importFaultyRow");

const listImportsOf = (staged: (typeof stagedTables)[number] | typeof faultyRow) =>
  statement(
    () => sql`WITH RECURSIVE staged (id) AS (
      (SELECT ${staged.importId} FROM ${staged} ORDER BY ${staged.importId} LIMIT 1)
      UNION ALL SELECT (SELECT ${staged.importId} FROM ${staged} WHERE ${staged.importId} > staged.id
        ORDER BY ${staged.importId} LIMIT 1) FROM staged WHERE staged.id IS NOT NULL)
    SELECT id FROM staged WHERE id IS NOT NULL`,
  );
const listStaged = stagedTables.map(listImportsOf);
const listWithFaultyRows = [listImportsOf(faultyRow)];

async function findImportIds(db: Queryable, lists: typeof listStaged): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const list of lists) for (const { id } of await findRows<{ id: string }>(db, list, {})) ids.add(id);
  return ids;
}

export const findStaged = (db: Queryable): Promise<Set<string>> => findImportIds(db, listStaged);
export const findWithFaultyRows = (db: Queryable): Promise<Set<string>> => findImportIds(db, listWithFaultyRows);

/** Outside a transaction, so that it blocks no other import. */
export async function analyzeStaged(db: Queryable): Promise<void> {
  await db.query("ANALYZE staged_person, staged_role, staged_group, staged_membership");
}
